//! Keys of nodes: each has an Ed25519 key pair, and knows the public keys of its neighbours. TLS 1.3 carries them as raw
//! public keys (RFC 7250), so that there are no certificates, no names and no dates.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// What precedes the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PREFIX: &str = "ed25519:";

/// The application protocol of TLS: both ends must be nodes of the same version.
pub const ALPN: &[u8] = b"millpond-node/1";

/// The public key of a node, written as `ed25519:` and 44 characters of base64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key of a peer, from what TLS presents as its certificate.
    pub fn of_peer(spki: &[u8]) -> Option<Self> {
        spki.strip_prefix(&SPKI_PREFIX).and_then(|key| key.try_into().ok()).map(Self)
    }
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a public key such as \"{PREFIX}AAAA...=\", found \"{text}\"");
        let base64 = text.strip_prefix(PREFIX).ok_or_else(expected)?;
        let bytes = STANDARD.decode(base64).map_err(|_| expected())?;
        bytes.try_into().map(Self).map_err(|_| expected())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The key pair of this node.
#[derive(Clone)]
pub struct Identity {
    certified: Arc<CertifiedKey>,
    public: PublicKey,
    /// From the private key, so that a node that starts again resets its peers' connections at once.
    reset_key: [u8; 32],
    connection_id_key: u64,
}

/// A new private key as the text of a file (PEM, PKCS #8).
pub fn generate() -> Result<String, String> {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| "the system has no random numbers".to_owned())?;
    let base64 = STANDARD.encode(pkcs8.as_ref());
    let lines: Vec<&str> = (0..base64.len())
        .step_by(64)
        .filter_map(|start| base64.get(start..(start + 64).min(base64.len())))
        .collect();
    Ok(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n")))
}

impl Identity {
    /// The key pair of the text of a key file.
    pub fn read(pem: &str) -> Result<Self, String> {
        let expected = "expected an Ed25519 private key as `millpond node keys` writes it";
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| expected.to_owned())?;
        let key = rustls::crypto::ring::sign::any_eddsa_type(&der).map_err(|_| expected.to_owned())?;
        let spki = key.public_key().ok_or(expected)?;
        let public = PublicKey::of_peer(spki.as_ref()).ok_or(expected)?;
        let certificate = CertificateDer::from(spki.as_ref().to_vec());
        let derived = |purpose: &[u8]| {
            let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, der.secret_pkcs8_der());
            let mut bytes = [0; 32];
            bytes.copy_from_slice(ring::hmac::sign(&key, purpose).as_ref());
            bytes
        };
        let [a, b, c, d, e, f, g, h, ..] = derived(b"millpond connection ids");
        Ok(Self {
            certified: Arc::new(CertifiedKey::new(vec![certificate], key)),
            public,
            reset_key: derived(b"millpond stateless reset"),
            connection_id_key: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        })
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The key of stateless resets: the same each time the node starts.
    pub fn reset_key(&self) -> ring::hmac::Key {
        ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.reset_key)
    }

    /// The key of connection identifiers: a node recognizes those that it issued before it started again.
    pub fn connection_id_key(&self) -> u64 {
        self.connection_id_key
    }

    /// TLS for connections to a neighbour with this key. `refused` receives the key of a peer that has another one.
    pub fn client(&self, neighbour: PublicKey, refused: RefusedKey) -> Result<rustls::ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Arc::new(ListedKeys::new(vec![neighbour], refused, &provider));
        let resolver = rustls::client::AlwaysResolvesClientRawPublicKeys::new(self.certified.clone());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.resumption = rustls::client::Resumption::disabled();
        Ok(config)
    }

    /// TLS for connections from neighbours with these keys. `refused` receives the key of a peer that has another one.
    pub fn server(
        &self,
        neighbours: Vec<PublicKey>,
        refused: RefusedKey,
    ) -> Result<rustls::ServerConfig, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Arc::new(ListedKeys::new(neighbours, refused, &provider));
        let resolver = rustls::server::AlwaysResolvesServerRawPublicKeys::new(self.certified.clone());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(config)
    }
}

/// The key of a peer that TLS has refused because it is not listed; of several, the first.
pub type RefusedKey = Arc<OnceLock<PublicKey>>;

/// Accepts peers whose key is listed, and no others.
#[derive(Debug)]
struct ListedKeys {
    keys: Vec<PublicKey>,
    refused: RefusedKey,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ListedKeys {
    fn new(keys: Vec<PublicKey>, refused: RefusedKey, provider: &CryptoProvider) -> Self {
        Self { keys, refused, algorithms: provider.signature_verification_algorithms }
    }

    fn check(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        let key = PublicKey::of_peer(presented).ok_or(CertificateError::BadEncoding)?;
        if self.keys.contains(&key) {
            return Ok(());
        }
        self.refused.get_or_init(|| key);
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify(
        &self,
        message: &[u8],
        presented: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let spki = SubjectPublicKeyInfoDer::from(presented.as_ref());
        verify_tls13_signature_with_raw_key(message, &spki, signature, &self.algorithms)
    }
}

/// TLS 1.2 is not offered.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::General("TLS 1.2 is not supported".to_owned()))
}

impl ServerCertVerifier for ListedKeys {
    fn verify_server_cert(
        &self,
        presented: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(presented).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _presented: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        presented: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, presented, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for ListedKeys {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        presented: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(presented).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _presented: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        presented: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, presented, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_key_is_read_and_its_public_key_is_written_and_read() {
        let pem = generate().unwrap();
        let (identity, again) = (Identity::read(&pem).unwrap(), Identity::read(&pem).unwrap());
        assert_eq!(identity.public(), again.public());
        assert_eq!(identity.connection_id_key(), again.connection_id_key());
        assert_ne!(identity.public(), Identity::read(&generate().unwrap()).unwrap().public());
        let text = identity.public().to_string();
        assert_eq!(text.len(), 8 + 44);
        assert_eq!(text.parse(), Ok(identity.public()));
    }

    #[test]
    fn malformed_keys_are_refused_with_what_was_expected() {
        for text in ["", "ed25519:", "ed25519:AAAA", "x25519:AAAA", "ed25519:!"] {
            assert!(text.parse::<PublicKey>().unwrap_err().contains("expected a public key"), "{text}");
        }
        assert!(Identity::read("nothing").is_err_and(|error| error.contains("millpond node keys")));
    }
}
