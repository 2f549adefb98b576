//! Fetching the data sets from their official sources.

use super::{Data, DataError, DataSet, Download, SETS};
use ndp_report::files::{OutputError, write};
use std::fs;
use std::path::Path;
use std::time::Duration;
use ureq::Agent;

/// Why a data set could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The server cannot be reached, refuses, is too slow or stops too early.
    #[error("cannot fetch {address}: {source}")]
    Transfer {
        /// The address.
        address: String,
        /// What went wrong.
        source: Box<ureq::Error>,
    },
    /// The description of a data set does not contain the address of the file.
    #[error("the answer of {0} holds no address of a file")]
    NoAddress(String),
    /// The downloaded file is not the data set.
    #[error("what came from {address} is not accepted: {source}")]
    Refused {
        /// The address.
        address: String,
        /// Why.
        source: DataError,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
}

/// Fetches the data sets of [`SETS`] that can be fetched and are missing in `folder`, and checks them;
/// reports its steps to `say`. If one data set fails, the others are still fetched.
///
/// `address` gives the address of a data set, usually `download.address`; `patience` is the time without
/// progress after which a server is considered unreachable.
///
/// # Errors
/// One error for each data set that could not be fetched; a file that is not the data set is not
/// kept.
pub fn fetch(
    folder: &Path,
    address: impl Fn(&DataSet, &Download) -> String,
    patience: Duration,
    mut say: impl FnMut(&str),
) -> Result<(), Vec<DownloadError>> {
    let agent = agent(patience);
    let mut errors = Vec::new();
    for set in SETS {
        let name = set.name;
        if set.is_real(&Data::only(folder)).is_ok_and(|real| real) {
            say(&format!("{name}: already there"));
            continue;
        }
        let Some(download) = set.download else {
            say(&format!("{name}: to be put there by hand, from {}", set.page));
            continue;
        };
        let address = address(set, &download);
        say(&format!("{name}: fetching {address}"));
        match fetch_one(&agent, &address, &folder.join(download.file), &|data| set.is_real(data)) {
            Ok(()) => say(&format!("{name}: fetched and checked")),
            Err(e) => errors.push(e),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn agent(patience: Duration) -> Agent {
    Agent::config_builder()
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
        .timeout_global(Some(20 * patience))
        .build()
        .into()
}

/// Fetches one file, checks it in a folder of its own, then writes it to `path`.
fn fetch_one(
    agent: &Agent,
    address: &str,
    path: &Path,
    check: &dyn Fn(&Data) -> Result<bool, DataError>,
) -> Result<(), DownloadError> {
    let (address, bytes) = follow_description(agent, address)?;
    // The name differs between processes, because two may fetch the same file.
    let incoming = path.with_file_name(format!(".incoming-{}", std::process::id()));
    write(&incoming.join(path.file_name().unwrap_or_default()), &bytes)?;
    let checked = check(&Data::only(&incoming));
    let result = match checked {
        Ok(true) => write(path, &bytes).map_err(DownloadError::from),
        Ok(false) => Err(DownloadError::NoAddress(address)),
        Err(source) => Err(DownloadError::Refused { address, source }),
    };
    let _ = fs::remove_dir_all(&incoming);
    result
}

/// The bytes at `address`, or, if there is a JSON text that names another address, the bytes there.
fn follow_description(agent: &Agent, address: &str) -> Result<(String, Vec<u8>), DownloadError> {
    let bytes = get(agent, address)?;
    let Ok(description) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
        return Ok((address.to_owned(), bytes));
    };
    let file = description["data_set_description"]["url"].as_str();
    let file = file.ok_or_else(|| DownloadError::NoAddress(address.to_owned()))?;
    Ok((file.to_owned(), get(agent, file)?))
}

fn get(agent: &Agent, address: &str) -> Result<Vec<u8>, DownloadError> {
    let attempt = || -> Result<Vec<u8>, ureq::Error> {
        agent.get(address).call()?.into_body().into_with_config().limit(LARGEST).read_to_vec()
    };
    attempt().map_err(|e| DownloadError::Transfer { address: address.to_owned(), source: Box::new(e) })
}

/// No file of these data sets is larger than a few megabytes.
const LARGEST: u64 = 200 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Long enough for a busy machine to answer.
    const PATIENCE: Duration = Duration::from_millis(1500);

    /// A server that answers any request for `/NAME` with `answer(NAME)`, until the test ends.
    fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answer = std::sync::Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let answer = answer.clone();
                std::thread::spawn(move || -> std::io::Result<()> {
                    let mut stream = stream?;
                    let mut lines = BufReader::new(stream.try_clone()?).lines();
                    let request = lines.next().transpose()?.unwrap_or_default();
                    for line in lines {
                        if line?.is_empty() {
                            break;
                        }
                    }
                    let name = request.split('/').nth(1).and_then(|rest| rest.split(' ').next());
                    let bytes = answer(name.unwrap_or_default());
                    // An answer that is sent in two halves imitates a server that stalls in between.
                    let stall = bytes.starts_with(b"HTTP/1.1 200 Stall");
                    let half = if stall { bytes.len() / 2 } else { bytes.len() };
                    stream.write_all(&bytes[..half])?;
                    stream.flush()?;
                    if stall {
                        std::thread::sleep(4 * PATIENCE);
                    }
                    stream.write_all(&bytes[half..])
                });
            }
        });
        address
    }

    fn response(status: &str, length: usize, body: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .into_bytes()
    }

    fn answers(name: &str) -> Vec<u8> {
        match name {
            "good" => response("200 OK", 4, "good"),
            "truncated" => response("200 OK", 400, "good"),
            "stalled" => response("200 Stall", 4, "good"),
            // Without `close` the client may send its next request over a connection that the server has just
            // closed.
            "moved" => {
                b"HTTP/1.1 302 Found\r\nLocation: /good\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    .to_vec()
            }
            "lost" => response("200 OK", 13, "{\"error\": {}}"),
            _ => response("404 Not Found", 0, ""),
        }
    }

    fn is_good(data: &Data) -> Result<bool, DataError> {
        let path = data.folders[0].join("file");
        let text = fs::read_to_string(&path).unwrap();
        if text == "good" {
            return Ok(true);
        }
        let (name, got, expected) = ("file".into(), text, "good".into());
        Err(DataError::WrongContent { name, path, got, expected })
    }

    #[test]
    fn a_file_is_kept_only_when_whole_and_right() {
        let folder = crate::testing::folder("download");
        let path = folder.join("file");
        let server = serve(answers);
        let server = server.as_str();
        let get = |name: &str| fetch_one(&agent(PATIENCE), &format!("{server}/{name}"), &path, &is_good);
        for name in ["truncated", "stalled", "missing"] {
            let error = get(name).unwrap_err();
            assert!(
                matches!(&error, DownloadError::Transfer { address, .. } if address.ends_with(name)),
                "{error}"
            );
            assert!(!path.exists() && fs::read_dir(&folder).unwrap().count() == 0);
        }
        assert!(matches!(get("lost"), Err(DownloadError::NoAddress(_))));
        get("moved").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "good");
    }

    #[test]
    fn wrong_content_is_refused_and_not_kept() {
        let folder = crate::testing::folder("download-wrong");
        let server = serve(|name| match name {
            "description" => response("200 OK", 0, ""),
            _ => response("200 OK", 8, "1 2\n2 3\n"),
        });
        let address = |set: &DataSet, _: &Download| format!("{server}/{}", set.name);
        let errors = fetch(&folder, address, PATIENCE, |_| {}).unwrap_err();
        assert_eq!(errors.len(), 3);
        assert!(errors.iter().all(|e| matches!(e, DownloadError::Refused { .. })), "{errors:?}");
        let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn a_description_leads_to_the_file() {
        let folder = crate::testing::folder("download-described");
        let files = serve(|_| response("200 OK", 4, "good"));
        let description = format!("{{\"data_set_description\": {{\"url\": \"{files}/file\"}}}}");
        let server = serve(move |_| response("200 OK", description.len(), &description));
        let path = folder.join("file");
        fetch_one(&agent(PATIENCE), &format!("{server}/description"), &path, &is_good).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "good");
    }

    #[test]
    fn nobody_at_the_address_is_an_error_not_a_wait() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = get(&agent(PATIENCE), &format!("http://127.0.0.1:{port}/file")).unwrap_err();
        assert!(error.to_string().starts_with("cannot fetch http://127.0.0.1"));
    }
}
