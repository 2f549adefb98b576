//! The enclosures of losses.

use super::{Filter, Followed};
use crate::enclose::Ends;
use ndp_numeric::rounding::Interval;

impl Filter {
    /// The bound on the correlation of the innovations.
    pub(in crate::meter) fn h(&self) -> f64 {
        self.correlation.sqrt().next_up()
    }

    /// The loss of a node so far; `None` if it is infinite, because something was seen without noise.
    pub(in crate::meter) fn ends(&self, node: usize) -> Option<Ends> {
        let of = &self.nodes[node];
        if of.revealed {
            return None;
        }
        let own = || self.directions.iter().filter(|direction| direction.node == node);
        let mut ends = Ends::ZERO;
        if !of.seen && own().all(|direction| !direction.seen) {
            return Some(ends);
        }
        if self.followed == Followed::Whole {
            let roots = own().fold(of.roots, |sum, x| (sum + x.kappa.sqrt().next_up()).next_up());
            ends.high = self.enclosed(of.whole, 0.0, (roots * roots).next_up()).high;
        } else {
            ends = ends.max(self.enclosed(of.high, of.low, of.kappa));
        }
        for direction in own() {
            let found = self.enclosed(direction.high, direction.low, direction.kappa);
            ends.low = ends.low.max(found.low);
            if self.followed != Followed::Whole {
                ends.high = ends.high.max(found.high);
            }
        }
        if self.followed == Followed::Whole {
            ends.low = ends.low.max(self.enclosed(0.0, of.low, of.kappa).low);
        }
        if self.above {
            ends.low = 0.0;
        }
        Some(ends)
    }

    /// The enclosure of a loss, from both ends of its sum and the bound on rounding.
    fn enclosed(&self, high: f64, low: f64, kappa: f64) -> Ends {
        let h = Interval::between(0.0, self.h());
        let rounding = (Interval::new(kappa) * Interval::new(self.shares)).sqrt();
        let most = Interval::new(high).sqrt() + rounding;
        let least = (Interval::new(low).sqrt() - rounding).max(Interval::ZERO);
        Ends {
            low: (least * least / (Interval::ONE + h)).low().max(0.0),
            high: (most * most / (Interval::ONE - h)).high(),
        }
    }
}
