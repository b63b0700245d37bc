//! `pagehand-gateway`: read the configuration, bind, serve.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pagehand::gateway::config::{Config, HELP};
use pagehand::gateway::{AtWork, Gateway};
use tokio::sync::Notify;
use tracing_subscriber::EnvFilter;

// How long answers in progress get after the signal; a stream would never end by itself.
const GRACE: Duration = Duration::from_secs(2);
// What calls at work get beyond that for their end to be recorded: whether one that is cut off took effect is unknown to
// everybody. Together less than the 10 s after which containers are killed.
const CALLS_GRACE: Duration = Duration::from_secs(6);

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("pagehand-gateway: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let Some(config) = Config::read(std::env::args().skip(1), |name| std::env::var(name).ok())? else {
        print!("{HELP}");
        return Ok(());
    };
    let reload = Arc::new(Notify::new());
    let listen = config.listen;
    let at_work = AtWork::default();
    let app = Gateway::builder(config).reload(Arc::clone(&reload)).at_work(at_work.clone()).build()?;
    tokio::spawn(hang_up(reload));
    let listener = tokio::net::TcpListener::bind(listen).await.map_err(|why| {
        let hint = if why.kind() == std::io::ErrorKind::AddrInUse { "; choose another with --port" } else { "" };
        format!("can not listen on {listen}: {why}{hint}")
    })?;
    let address = listener.local_addr().map_err(|why| why.to_string())?;
    println!("listening on http://{address}");
    let (stopped, stop) = tokio::sync::oneshot::channel();
    let serving = axum::serve(listener, app).with_graceful_shutdown(async move {
        signal().await;
        let _ = stopped.send(());
    });
    let hard_stop = async move {
        let _ = stop.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served.map_err(|why| why.to_string())?,
        () = hard_stop => {}
    }
    if tokio::time::timeout(CALLS_GRACE, at_work.none()).await.is_err() {
        tracing::warn!("calls were cut off: whether they took effect is unknown");
    }
    Ok(())
}

// The signal by which servers are told to read their configuration again.
async fn hang_up(reload: Arc<Notify>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut hang_up) = signal(SignalKind::hangup()) else { return };
        while hang_up.recv().await.is_some() {
            reload.notify_one();
        }
    }
    #[cfg(not(unix))]
    drop(reload);
}

async fn signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = match signal(SignalKind::terminate()) {
            Ok(terminate) => terminate,
            Err(_) => return drop(interrupt.await),
        };
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
}
