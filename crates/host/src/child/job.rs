//! The launcher's job, in bytes.
//!
//! Written by hand: paths and variables are bytes and not text on Linux, and no type below `wire` is serialisable. Both ends are
//! the same version of metier, with which the job begins: a launcher of another version, which may protect less, refuses it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::sandbox::{
    Mechanism, NetworkAccess, PlaceIdentity, SandboxLimits, SandboxProfile, StandIn,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything that the launcher needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChildJob {
    /// The program to run; none to test the sandbox only.
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The value of the proxy variables, with `{port}` in it.
    pub(crate) proxy_url: OsString,
    pub(crate) mechanism: Mechanism,
    pub(crate) profile: Option<SandboxProfile>,
}

impl ChildJob {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = PipeWriter(Vec::with_capacity(4096));
        out.bytes(VERSION.as_bytes());
        out.bytes(self.program.as_bytes());
        out.list(self.args.iter().map(|arg| arg.as_bytes()));
        out.list(self.env.iter().map(|(name, _)| name.as_bytes()));
        out.list(self.env.iter().map(|(_, value)| value.as_bytes()));
        out.bytes(self.proxy_url.as_bytes());
        out.number(match self.mechanism {
            Mechanism::Namespaces => 0,
            Mechanism::Landlock => 1,
            Mechanism::None => 2,
        });
        out.number(u64::from(self.profile.is_some()));
        if let Some(profile) = &self.profile {
            for paths in [
                &profile.read,
                &profile.write,
                &profile.deny,
                &profile.protect,
            ] {
                out.list(paths.iter().map(|path| path.as_os_str().as_bytes()));
            }
            let stand_in = profile.stand_in.iter();
            let stand_in = stand_in.flat_map(|stand_in| [&stand_in.at, &stand_in.copy]);
            let paths: Vec<&[u8]> = stand_in.map(|path| path.as_os_str().as_bytes()).collect();
            out.list(paths.into_iter());
            let rooms = profile.rooms.iter();
            let rooms: Vec<&[u8]> = rooms.map(|path| path.as_os_str().as_bytes()).collect();
            out.list(rooms.into_iter());
            let places = profile.identities.keys();
            out.list(places.map(|path| path.as_os_str().as_bytes()));
            for known in profile.identities.values() {
                out.number(known.device.0.into());
                out.number(known.device.1.into());
                out.number(known.inode);
                out.number(known.is_folder.into());
            }
            out.number(match profile.network {
                NetworkAccess::None => 0,
                NetworkAccess::Proxy => 1,
            });
            for limit in numbers(&profile.limits) {
                out.number(limit.unwrap_or(u64::MAX));
            }
            out.number(u64::from(profile.programs.is_some()));
            let programs = profile.programs.as_deref().unwrap_or_default();
            out.list(programs.iter().map(|path| path.as_os_str().as_bytes()));
        }
        out.0
    }

    /// `None` if the bytes were not written by [`ChildJob::encode`].
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = PipeReader(bytes);
        if input.text()? != VERSION {
            return None;
        }
        let program = input.text()?;
        let args = input.list()?;
        let names = input.list()?;
        let values = input.list()?;
        let proxy_url = input.text()?;
        let mechanism = match input.number()? {
            0 => Mechanism::Namespaces,
            1 => Mechanism::Landlock,
            2 => Mechanism::None,
            _ => return None,
        };
        let profile = match input.number()? {
            0 => None,
            1 => Some(input.profile()?),
            _ => return None,
        };
        let complete = input.0.is_empty() && names.len() == values.len();
        complete.then(|| Self {
            program,
            args,
            env: names.into_iter().zip(values).collect(),
            proxy_url,
            mechanism,
            profile,
        })
    }
}

fn numbers(limits: &SandboxLimits) -> [Option<u64>; 6] {
    let SandboxLimits {
        memory,
        address_space,
        file_size,
        open_files,
        processes,
        cpu_seconds,
    } = *limits;
    [
        memory,
        address_space,
        file_size,
        open_files,
        processes,
        cpu_seconds,
    ]
}

pub(super) struct PipeWriter(pub(super) Vec<u8>);

impl PipeWriter {
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(super) fn list<'a>(&mut self, items: impl ExactSizeIterator<Item = &'a [u8]>) {
        self.number(items.len() as u64);
        for item in items {
            self.bytes(item);
        }
    }
}

pub(super) struct PipeReader<'a>(pub(super) &'a [u8]);

impl PipeReader<'_> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(super) fn text(&mut self) -> Option<OsString> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(OsString::from_vec(text.to_vec()))
    }

    pub(super) fn list(&mut self) -> Option<Vec<OsString>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }

    pub(super) fn paths(&mut self) -> Option<Vec<PathBuf>> {
        Some(self.list()?.into_iter().map(PathBuf::from).collect())
    }

    fn limit(&mut self) -> Option<Option<u64>> {
        let number = self.number()?;
        Some((number != u64::MAX).then_some(number))
    }

    fn identity(&mut self) -> Option<PlaceIdentity> {
        let mut part = || u32::try_from(self.number()?).ok();
        Some(PlaceIdentity {
            device: (part()?, part()?),
            inode: self.number()?,
            is_folder: self.number()? != 0,
        })
    }

    fn profile(&mut self) -> Option<SandboxProfile> {
        Some(SandboxProfile {
            read: self.paths()?,
            write: self.paths()?,
            deny: self.paths()?,
            protect: self.paths()?,
            stand_in: match self.paths()?.as_slice() {
                [] => None,
                [at, copy] => Some(StandIn {
                    at: at.clone(),
                    copy: copy.clone(),
                }),
                _ => return None,
            },
            rooms: match self.paths()?.as_slice() {
                [] => None,
                [rooms] => Some(rooms.clone()),
                _ => return None,
            },
            identities: {
                let places = self.paths()?.into_iter();
                places
                    .map(|path| Some((path, self.identity()?)))
                    .collect::<Option<_>>()?
            },
            // The results are in `protect`.
            guard: None,
            network: match self.number()? {
                0 => NetworkAccess::None,
                1 => NetworkAccess::Proxy,
                _ => return None,
            },
            limits: SandboxLimits {
                memory: self.limit()?,
                address_space: self.limit()?,
                file_size: self.limit()?,
                open_files: self.limit()?,
                processes: self.limit()?,
                cpu_seconds: self.limit()?,
            },
            programs: match (self.number()?, self.paths()?) {
                (0, _) => None,
                (_, programs) => Some(programs),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> ChildJob {
        let known = PlaceIdentity {
            device: (8, 1),
            inode: 7,
            is_folder: true,
        };
        ChildJob {
            program: OsString::from_vec(vec![b'/', 0xff]),
            args: vec!["-c".into(), "".into()],
            env: vec![("PATH".into(), "/bin".into())],
            proxy_url: "http://127.0.0.1:{port}".into(),
            mechanism: Mechanism::Landlock,
            profile: Some(SandboxProfile {
                stand_in: Some(StandIn {
                    at: "/skill".into(),
                    copy: "/copy".into(),
                }),
                rooms: Some("/runs".into()),
                read: vec!["/usr".into()],
                write: vec!["/a".into(), "/b".into()],
                identities: [("/a".into(), known)].into(),
                network: NetworkAccess::Proxy,
                limits: SandboxLimits {
                    memory: Some(7),
                    address_space: Some(8),
                    ..SandboxLimits::default()
                },
                programs: Some(vec!["/usr/bin/git".into()]),
                ..SandboxProfile::default()
            }),
        }
    }

    #[test]
    fn events_arrive_as_they_are_sent() {
        let told = job();
        assert_eq!(ChildJob::decode(&told.encode()), Some(told));
    }

    #[test]
    fn a_job_of_another_version_is_refused() {
        let mut bytes = job().encode();
        let version = bytes.windows(VERSION.len());
        let at = version
            .into_iter()
            .position(|part| part == VERSION.as_bytes());
        bytes[at.unwrap()] ^= 1;
        assert_eq!(ChildJob::decode(&bytes), None);
    }

    #[test]
    fn half_a_message_is_not_a_job() {
        let bytes = job().encode();
        for length in 0..bytes.len() {
            assert_eq!(ChildJob::decode(&bytes[..length]), None, "{length} bytes");
        }
    }
}
