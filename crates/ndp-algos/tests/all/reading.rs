//! What is read from files is what was meant, or an error.

use ndp_account::Observer;
use ndp_algos::registry::Parameters;

#[test]
fn parameters_are_given_once() {
    let read = |text: &str| serde_json::from_str::<Parameters>(text);
    assert_eq!(read(r#"{"rounds": 3, "seed": 7}"#).unwrap(), "rounds=3,seed=7".parse().unwrap());
    let twice = read(r#"{"rounds": 3, "rounds": 4}"#).unwrap_err().to_string();
    assert!(twice.starts_with("the parameter \"rounds\" is given twice, as 3 and as 4"), "{twice}");
    let written = serde_json::to_string(&Parameters::from([("rounds", 0.1)])).unwrap();
    assert_eq!(read(&written).unwrap(), Parameters::from([("rounds", 0.1)]));
}

/// Membership is decided by a search of members in order: in any other order a member would not be found, and
/// be exposed to itself.
#[test]
fn observers_are_read_in_any_order_and_nothing_is_ignored() {
    let read = |text: &str| serde_json::from_str::<Observer>(text);
    let whole = r#"{"members": [4, 1, 9], "own_noise": "known", "senders": "known", "tapped": [[0, 1]]}"#;
    let observer = read(whole).unwrap();
    assert_eq!(observer, Observer::coalition(&[1, 4, 9]).tapping(&[(0, 1)]));
    assert!([1, 4, 9].iter().all(|&v| observer.contains(v)));
    let misspelt = whole.replace("tapped", "taped");
    assert!(read(&misspelt).unwrap_err().to_string().contains("unknown field `taped`"));
    let more = whole.replace("\"senders\"", "\"sees\": 3, \"senders\"");
    assert!(read(&more).unwrap_err().to_string().contains("unknown field `sees`"));
}
