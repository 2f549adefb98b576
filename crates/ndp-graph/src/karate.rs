//! Zachary's karate club: who met outside the club.
//!
//! # References
//! - Zachary, *An information flow model for conflict and fission in small groups*, Journal of
//!   Anthropological Research 33, 1977.

use crate::{Error, Graph};

/// The 34 members of a karate club and the 78 pairs who met outside it, without weights. Node 0 is the
/// instructor, node 33 the president.
///
/// # Errors
/// None: the table is a simple graph.
pub fn karate_club_graph() -> Result<Graph, Error> {
    let edges = FRIENDS.iter().flat_map(|&(u, friends)| friends.iter().map(move |&v| (u, v)));
    Graph::from_edges(34, edges)
}

/// Each pair once, listed under its smaller member.
const FRIENDS: &[(usize, &[usize])] = &[
    (0, &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31]),
    (1, &[2, 3, 7, 13, 17, 19, 21, 30]),
    (2, &[3, 7, 8, 9, 13, 27, 28, 32]),
    (3, &[7, 12, 13]),
    (4, &[6, 10]),
    (5, &[6, 10, 16]),
    (6, &[16]),
    (8, &[30, 32, 33]),
    (9, &[33]),
    (13, &[33]),
    (14, &[32, 33]),
    (15, &[32, 33]),
    (18, &[32, 33]),
    (19, &[33]),
    (20, &[32, 33]),
    (22, &[32, 33]),
    (23, &[25, 27, 29, 32, 33]),
    (24, &[25, 27, 31]),
    (25, &[31]),
    (26, &[29, 33]),
    (27, &[33]),
    (28, &[31, 33]),
    (29, &[32, 33]),
    (30, &[32, 33]),
    (31, &[32, 33]),
    (32, &[33]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of the published matrix.
    #[test]
    fn the_club_has_its_size_and_degrees() -> Result<(), Error> {
        let club = karate_club_graph()?;
        assert_eq!((club.node_count(), club.edge_count()), (34, 78));
        let degrees: Vec<usize> = (0..34).map(|v| club.degree(v)).collect();
        assert_eq!([0, 33, 32, 2, 11].map(|v| degrees[v]), [16, 17, 12, 10, 1]);
        assert!(club.is_connected());
        Ok(())
    }
}
