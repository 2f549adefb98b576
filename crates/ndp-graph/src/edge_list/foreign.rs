//! Formats whose lines look like those of edge lists.

/// The problem to report if a line begins a format that is not an edge list; most lines of such formats look
/// like edges.
pub(super) fn foreign(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let graph = lower.strip_prefix("strict").map_or(&lower[..], str::trim_start);
    let graph = graph.strip_prefix("di").unwrap_or(graph).strip_prefix("graph");
    let within = |bracket| {
        graph.is_some_and(|rest| rest.contains(bracket) && !rest.starts_with(char::is_alphanumeric))
    };
    if within('{') {
        Some("begins a DOT file, which is not read: write its edges as lines `a b`, or as GraphML")
    } else if within('[') {
        Some("begins a GML file, which is not read: write its edges as lines `a b`, or as GraphML")
    } else if lower.starts_with("*vertices") || lower.starts_with("*network") {
        Some("begins a Pajek file, which is not read: write its edges as lines `a b`, or as GraphML")
    } else if lower.starts_with(['{', '[']) {
        Some(
            "begins a block, as in JSON or DOT, which are not read: write the edges as lines `a b`, or as GraphML",
        )
    } else {
        None
    }
}
