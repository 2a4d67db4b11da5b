//! The HTTP server.

use crate::access::{Token, is_own_host};
use crate::clock::Stopwatch;
use crate::faults::PlacedFault;
use crate::job::{Job, Task};
use crate::messages::Message;
use crate::queue::{JobQueue, Place};
use crate::readings::PaperReadings;
use crate::requests::{Edited, RunRequest, check_overrides, parse};
use crate::supervisor::{JobError, JobProgram};
use crate::{assets, catalogue, limits, readings};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_core::Stream;
use millpond_protocols::Registry;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path as FilePath, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// What a server serves.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The folder whose scenarios are listed and whose files scenarios may read.
    pub folder: PathBuf,
    /// The port on the loopback interface; 0: any that is free.
    pub port: u16,
    /// The version of the program.
    pub version: &'static str,
}

/// Why a server cannot start or has ended.
#[derive(Debug)]
pub struct ServeError(String);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServeError {}

/// Serves the playground until the program is interrupted. `announce` receives the address of the page once it can be
/// opened. Jobs are processes of this program, so its `main` must call [`run_job`](crate::run_job) first.
///
/// # Errors
/// The folder does not exist, the port is in use, or the system refuses what a server needs.
pub fn serve(
    options: &ServeOptions,
    registry: &Registry,
    announce: impl FnOnce(&str),
) -> Result<(), ServeError> {
    let state = Arc::new(Server::new(options, registry)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| ServeError(format!("cannot start a server: {error}")))?.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let refuse = |error| ServeError(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(refuse)?;
        let port = listener.local_addr().map_err(refuse)?.port();
        announce(&format!("http://127.0.0.1:{port}/?token={}", state.token));
        let served = axum::serve(listener, router(Guarded { server: state, port })).into_future();
        tokio::select! {
            ended = served => ended.map_err(|error| ServeError(format!("the server has ended: {error}"))),
            interrupted = tokio::signal::ctrl_c() => interrupted.map_err(|error| ServeError(error.to_string())),
        }
    })
}

/// What all requests share.
struct Server {
    token: Token,
    /// Without symbolic links.
    folder: PathBuf,
    /// The catalogue without scenarios.
    catalogue: Value,
    page: String,
    /// The readings of the papers, since the first request for them.
    readings: OnceLock<Vec<PaperReadings>>,
    registry: Registry,
    program: JobProgram,
    /// Runs and analyses.
    runs: JobQueue,
    /// Checks and changes of texts, which do not wait for runs.
    checks: JobQueue,
}

impl Server {
    fn new(options: &ServeOptions, registry: &Registry) -> Result<Self, ServeError> {
        let folder = folder(&options.folder)?;
        let program = JobProgram::this()
            .map_err(|error| ServeError(format!("cannot find the program's own file: {error}")))?;
        let token = Token::new().map_err(|error| ServeError(format!("no random numbers: {error}")))?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            token,
            folder,
            catalogue: catalogue::of_registry(registry, options.version),
            page: assets::page(),
            readings: OnceLock::new(),
            registry: registry.clone(),
            program,
            runs: JobQueue::new(processors),
            checks: JobQueue::new(processors),
        })
    }

    fn job(&self, task: Task, edited: Edited, width: u32) -> Job {
        Job { task, edited, folder: self.folder.clone(), width }
    }
}

fn folder(path: &FilePath) -> Result<PathBuf, ServeError> {
    let refuse = |why: &dyn fmt::Display| ServeError(format!("{}: {why}", path.display()));
    let folder = path.canonicalize().map_err(|error| refuse(&error))?;
    if folder.is_dir() { Ok(folder) } else { Err(refuse(&"is not a folder")) }
}

#[derive(Clone)]
struct Guarded {
    server: Arc<Server>,
    port: u16,
}

fn router(guarded: Guarded) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/assets/{*path}", get(asset))
        .route("/papers/{paper}/{recipe}", get(recipe))
        .route("/api/catalogue", get(scenarios))
        .route("/api/readings", get(paper_readings))
        .route("/api/check", post(check))
        .route("/api/apply", post(apply))
        .route("/api/notebook", post(notebook))
        .route("/api/run", post(run))
        .layer(DefaultBodyLimit::max(limits::LARGEST_BODY))
        .layer(from_fn_with_state(guarded.clone(), guard))
        .with_state(guarded.server)
}

/// Refuses requests under other names, and those to the interface without the token; adds the headers that protect the page.
async fn guard(State(guarded): State<Guarded>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let path = request.uri().path();
    let is_public = path == "/" || path.starts_with("/assets/") || path.starts_with("/papers/");
    let mut response = if !is_own_host(host, guarded.port) {
        (StatusCode::FORBIDDEN, "The playground is served under 127.0.0.1 and localhost only.\n")
            .into_response()
    } else if !is_public && !has_token(&request, &guarded.server.token) {
        let reason =
            "Open the playground by the whole address that millpond serve has printed, with its token.\n";
        (StatusCode::FORBIDDEN, reason).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in PROTECTION {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    response
}

/// The headers of every answer.
const PROTECTION: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

fn has_token(request: &Request, token: &Token) -> bool {
    let given = request.headers().get("x-millpond-token").map(HeaderValue::as_bytes);
    given.is_some_and(|given| token.is(given))
}

async fn page(State(server): State<Arc<Server>>) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], server.page.clone()).into_response()
}

async fn asset(Path(path): Path<String>) -> Response {
    match assets::asset(&path) {
        Some((content, media_type)) => ([(header::CONTENT_TYPE, media_type)], content).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn scenarios(State(server): State<Arc<Server>>) -> Response {
    let mut answer = server.catalogue.clone();
    answer["scenarios"] = json!(catalogue::scenarios(&server.folder));
    json_answer(StatusCode::OK, &answer)
}

/// The text of a shipped recipe: `lgcc/fig12.toml`.
async fn recipe(Path((paper, file)): Path<(String, String)>) -> Response {
    let recipe = file.strip_suffix(".toml").unwrap_or_default();
    match millpond_papers::recipe_text(&format!("{paper}/{recipe}")) {
        Some(text) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Reading all recipes takes a while, for which other requests do not wait.
async fn paper_readings(State(server): State<Arc<Server>>) -> Response {
    let answer = move || {
        let found = server.readings.get_or_init(|| readings::of_papers(&server.registry));
        json_answer(StatusCode::OK, found)
    };
    let made = tokio::task::spawn_blocking(answer).await;
    made.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// The body of a request, if it is not too long.
type RequestBody = Result<Bytes, BytesRejection>;

async fn check(server: State<Arc<Server>>, body: RequestBody) -> Response {
    single(server, Task::Check, body).await
}

async fn apply(server: State<Arc<Server>>, body: RequestBody) -> Response {
    single(server, Task::Apply, body).await
}

async fn notebook(server: State<Arc<Server>>, body: RequestBody) -> Response {
    single(server, Task::Notebook, body).await
}

/// What is requested.
///
/// # Errors
/// The answer to a body that is too long or not valid.
fn read<T: DeserializeOwned>(body: RequestBody, overrides: fn(&T) -> &[String]) -> Result<T, Box<Response>> {
    let body = body.map_err(|rejected| {
        let status = rejected.status();
        let most = limits::LARGEST_BODY >> 10;
        let message = format!("the request cannot be read; it may have {most} KiB: {}", rejected.body_text());
        Box::new(faulty(status, PlacedFault::plain(message)))
    })?;
    let request = parse::<T>(&body).and_then(|request| {
        check_overrides(overrides(&request))?;
        Ok(request)
    });
    request.map_err(|fault| Box::new(faulty(StatusCode::BAD_REQUEST, *fault)))
}

/// The answer to a request of one job with one line.
async fn single(State(server): State<Arc<Server>>, task: Task, body: RequestBody) -> Response {
    let edited = match read(body, |edited: &Edited| &edited.overrides) {
        Ok(edited) => edited,
        Err(answer) => return *answer,
    };
    let place = server.checks.enter(1).and_then(|mut places| places.pop());
    let Some(place) = place else { return busy() };
    let Some(_permit) = place.wait().await else { return busy() };
    let mut answer = Vec::new();
    let job = server.job(task, edited, 0);
    let done = server.program.run(&job, limits::LONGEST_CHECK, std::future::pending(), |line| {
        answer.extend(line);
        true
    });
    match done.await {
        Ok(()) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        Err(JobError::Fault(fault)) => faulty(StatusCode::OK, fault),
        Err(JobError::Closed) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Streams the answers of the jobs of a run.
async fn run(State(server): State<Arc<Server>>, body: RequestBody) -> Response {
    let watch = Stopwatch::start();
    let request = match read(body, |request: &RunRequest| &request.overrides) {
        Ok(request) => request,
        Err(answer) => return *answer,
    };
    let jobs = jobs(&server, request);
    let Some(places) = server.runs.enter(jobs.len()) else { return busy() };
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(do_jobs(server, jobs.into_iter().zip(places).collect(), sender, watch));
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    (headers, Body::from_stream(Lines(receiver))).into_response()
}

fn jobs(server: &Server, request: RunRequest) -> Vec<Job> {
    let RunRequest { text, overrides, mut worlds, analysis, width } = request;
    worlds.sort_by_key(|world| world.name());
    worlds.dedup();
    let tasks = worlds.into_iter().map(Task::Run).chain(analysis.then_some(Task::Analysis));
    let edited = Edited { text, overrides };
    tasks.map(|task| server.job(task, edited.clone(), width)).collect()
}

/// Does all jobs of a request. If the connection is closed, they end at once.
async fn do_jobs(
    server: Arc<Server>,
    jobs: Vec<(Job, Place)>,
    sender: UnboundedSender<Vec<u8>>,
    watch: Stopwatch,
) {
    let mut tasks = JoinSet::new();
    for (job, place) in jobs {
        tasks.spawn(do_job(server.clone(), job, place, sender.clone()));
    }
    while tasks.join_next().await.is_some() {}
    send(&sender, &Message::Done { milliseconds: watch.milliseconds() });
}

/// Does a job as soon as a processor is free, unless the connection is closed.
async fn do_job(server: Arc<Server>, job: Job, place: Place, sender: UnboundedSender<Vec<u8>>) {
    let permit = tokio::select! {
        permit = place.wait() => permit,
        () = sender.closed() => None,
    };
    let Some(_permit) = permit else { return };
    let receive = |line| sender.send(line).is_ok();
    let done = server.program.run(&job, limits::LONGEST_RUN, sender.closed(), receive);
    if let Err(JobError::Fault(fault)) = done.await {
        send(&sender, &job.task.fault(vec![fault]));
    }
}

/// Sends a line, if the connection is still open.
fn send(sender: &UnboundedSender<Vec<u8>>, message: &Message) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let _ = sender.send(line);
    }
}

/// The lines of an answer as a stream. It is dropped when the connection is closed.
struct Lines(UnboundedReceiver<Vec<u8>>);

impl Stream for Lines {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(|line| Ok(Bytes::from(line))))
    }
}

fn json_answer(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn faulty(status: StatusCode, fault: PlacedFault) -> Response {
    json_answer(status, &json!({ "faults": [fault] }))
}

fn busy() -> Response {
    let fault = PlacedFault::plain(format!(
        "{} jobs wait for a processor already, the limit of the playground",
        limits::MOST_WAITING
    ));
    let mut headers = HeaderMap::new();
    headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    (headers, faulty(StatusCode::SERVICE_UNAVAILABLE, fault.help("try again in a few seconds")))
        .into_response()
}
