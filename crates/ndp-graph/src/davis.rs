//! The Davis Southern Women network: who was seen at which event.
//!
//! # References
//! - Davis, Gardner, Gardner, *Deep South*, University of Chicago Press, 1941, page 148.

use crate::{Error, Graph};

/// The bipartite graph of 18 women (nodes `0..18`) and the 14 events (nodes `18..32`) they
/// attended: 89 edges. Labels are the women's names, and `E1` to `E14`.
///
/// # Errors
/// None: the table is a simple graph.
pub fn davis_southern_women_graph() -> Result<Graph, Error> {
    let women = ATTENDANCE.len();
    let edges = ATTENDANCE
        .iter()
        .enumerate()
        .flat_map(|(woman, (_, events))| events.iter().map(move |&event| (woman, women + event - 1)));
    let names = ATTENDANCE.iter().map(|&(name, _)| name.to_owned());
    let events = (1..=EVENTS).map(|event| format!("E{event}"));
    Graph::from_edges(women + EVENTS, edges)?.with_labels(names.chain(events).collect())
}

const EVENTS: usize = 14;

const ATTENDANCE: [(&str, &[usize]); 18] = [
    ("Evelyn_Jefferson", &[1, 2, 3, 4, 5, 6, 8, 9]),
    ("Laura_Mandeville", &[1, 2, 3, 5, 6, 7, 8]),
    ("Theresa_Anderson", &[2, 3, 4, 5, 6, 7, 8, 9]),
    ("Brenda_Rogers", &[1, 3, 4, 5, 6, 7, 8]),
    ("Charlotte_McDowd", &[3, 4, 5, 7]),
    ("Frances_Anderson", &[3, 5, 6, 8]),
    ("Eleanor_Nye", &[5, 6, 7, 8]),
    ("Pearl_Oglethorpe", &[6, 8, 9]),
    ("Ruth_DeSand", &[5, 7, 8, 9]),
    ("Verne_Sanderson", &[7, 8, 9, 12]),
    ("Myra_Liddel", &[8, 9, 10, 12]),
    ("Katherina_Rogers", &[8, 9, 10, 12, 13, 14]),
    ("Sylvia_Avondale", &[7, 8, 9, 10, 12, 13, 14]),
    ("Nora_Fayette", &[6, 7, 9, 10, 11, 12, 13, 14]),
    ("Helen_Lloyd", &[7, 8, 10, 11, 12]),
    ("Dorothy_Murchison", &[8, 9]),
    ("Olivia_Carleton", &[9, 11]),
    ("Flora_Price", &[9, 11]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn davis_has_its_size_and_degrees() -> Result<(), Error> {
        let graph = davis_southern_women_graph()?;
        assert_eq!((graph.node_count(), graph.edge_count()), (32, 89));
        assert!(graph.is_connected());
        let degrees: Vec<usize> = (0..32).map(|v| graph.degree(v)).collect();
        let women = [8, 7, 8, 7, 4, 4, 4, 3, 4, 4, 4, 6, 7, 8, 5, 2, 2, 2];
        let events = [3, 3, 6, 4, 8, 8, 10, 14, 12, 5, 4, 6, 3, 3];
        assert_eq!(degrees, [&women[..], &events[..]].concat());
        let labels = graph.labels().ok_or(Error::EmptyGraph)?;
        assert_eq!((labels[0].as_str(), labels[31].as_str()), ("Evelyn_Jefferson", "E14"));
        assert!(graph.edges().all(|(u, v)| u < 18 && 18 <= v));
        Ok(())
    }
}
