//! Redirects of a skill's requests to other origins, and their records.

use std::{
    io::Write,
    sync::{Mutex, mpsc},
};

use metier_host::net::{
    ConnectionLog, FetchLimits, FetchRequest, NetError, OpenConnection, ProxyConnection,
    ProxyDecision, Trust, fetch_recorded,
};

use super::{Internet, Server, any, hosts, redirect};

/// A log of connections, which refuses some.
struct HopLog<'s> {
    /// How many requests the servers had seen when each connection was recorded.
    opened: Mutex<Vec<(String, usize)>>,
    refuses: bool,
    server: &'s Server,
    ended: mpsc::Sender<ProxyConnection>,
}

impl ConnectionLog for HopLog<'_> {
    fn open(&self, host: &str, port: u16) -> Result<Box<dyn OpenConnection>, String> {
        let seen = self.server.seen().len();
        let mut opened = self.opened.lock().unwrap();
        opened.push((format!("{host}:{port}"), seen));
        match self.refuses {
            true => Err("the disk is full".to_owned()),
            false => Ok(Box::new(self.ended.clone())),
        }
    }

    fn refused(&self, _: &ProxyConnection) {}
}

// case 225
#[test]
fn each_origin_that_a_redirect_leads_to_is_recorded_before_it_is_contacted() {
    let last = Server::saying("end");
    let first = Server::start(|mut stream, seen| {
        let head = super::read_head(&mut stream);
        let next = match head.contains(" /a ") {
            true => "/b",
            false => "http://b.io/",
        };
        seen.lock().unwrap().push(head);
        stream.write_all(redirect(307, next).as_bytes()).unwrap();
    });
    let net = Internet::default()
        .name("a.io", &["1.2.3.4"])
        .name("b.io", &["1.2.3.5"])
        .route("1.2.3.4:80", &first)
        .route("1.2.3.5:80", &last);
    let request = FetchRequest {
        method: "POST".into(),
        body: b"secret".to_vec(),
        url: "http://a.io/a".into(),
        ..FetchRequest::default()
    };
    let limits = FetchLimits::default();
    for refuses in [true, false] {
        let (ended, over) = mpsc::channel();
        let log = HopLog {
            opened: Mutex::default(),
            refuses,
            server: &last,
            ended,
        };
        let trust = Trust::system();
        let done = fetch_recorded(&request, &any(), &limits, &net, &trust, &log);
        assert_eq!(
            *log.opened.lock().unwrap(),
            [("b.io:80".to_owned(), 0)],
            "a hop within an origin is not recorded again"
        );
        if refuses {
            assert!(matches!(done, Err(NetError::Unrecorded { .. })), "{done:?}");
            assert!(last.seen().is_empty(), "nothing was sent");
            continue;
        }
        assert_eq!(done.unwrap().body, b"end");
        let over = over.try_recv().unwrap();
        assert_eq!(over.decision, ProxyDecision::Allowed);
        assert_eq!((over.bytes_up, over.bytes_down), (6, 3));
        assert_eq!((over.host.as_str(), over.port), ("b.io", 80));
    }
    // A host that is not approved is not recorded as contacted.
    let (ended, _) = mpsc::channel();
    let log = HopLog {
        opened: Mutex::default(),
        refuses: false,
        server: &last,
        ended,
    };
    let approved = hosts(&["a.io"]);
    let done = fetch_recorded(&request, &approved, &limits, &net, &Trust::system(), &log);
    assert!(matches!(done, Err(NetError::Redirect(_))), "{done:?}");
    assert!(log.opened.lock().unwrap().is_empty());
}
