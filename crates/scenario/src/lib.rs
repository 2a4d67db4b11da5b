//! From a TOML file to a typed scenario, with errors that point at the line; traces: reading, generating, statistics.
//!
//! The keys of each TOML table are declared in one file of `keys`.

mod applications;
mod collector;
mod configured;
mod distribution;
mod drawn_paths;
mod excerpt;
mod files;
mod graphml;
mod key;
mod keys;
mod load;
mod lognormal;
mod model;
mod network;
mod overrides;
mod place;
mod reference;
mod schedule;
mod schema;
mod served;
mod size_table;
mod source;
mod table;
pub mod trace;
mod tree;
mod variant;

pub use applications::{AdaptiveVideo, ObjectCount, VideoCall, WebPages};
pub use configured::NOISE_INTERVAL;
pub use distribution::{Lasting, Size};
pub use excerpt::printable;
pub use files::{Disk, Files};
pub use key::{ScenarioHashes, TraceHash};
pub use keys::FurtherCheck;
pub use model::{
    Activity, BaseRtt, Buffer, Capacity, ConfiguredCapacity, ConfiguredRate, Contention, Delay, DelayedAcks,
    Direction, DrawnPaths, Endpoint, FlowGroup, FlowStart, FluidOptions, Gap, GilbertElliott, Grants, Hop,
    Levels, Link, LinkLayer, Loss, Measure, Method, Pattern, Processing, ProtocolEntry, QueueSpec, Radio,
    RateCode, ReceiverConduct, Relays, Rounding, RouterConduct, Rtt, Scenario, Scheduler, SenderConduct,
    SettingValue, Stop, Workload, WrittenSetting,
};
pub use overrides::OptionValue;
pub use place::{At, Place};
pub use reference::{heading_anchor, update_reference};
pub use schedule::{End, RateDistribution, Schedule};
pub use schema::schema;
pub use size_table::{SizeShare, SizeTable};
pub use source::{Fault, Faults, Sources};
pub use variant::{PRESET, join_settings, name_without_settings};
