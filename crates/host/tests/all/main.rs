//! What skill code can and can't do, tried with real children, files and sockets.

mod net;
