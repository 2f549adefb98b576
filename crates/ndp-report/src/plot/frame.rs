//! Rectangles, and lines clipped at their edges.

/// A rectangle of the picture; `y` grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(self) -> f64 {
        self.y + self.height
    }

    /// The rectangle that is left after removing margins of these widths.
    pub(super) fn inset(self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self {
            x: self.x + left,
            y: self.y + top,
            width: (self.width - left - right).max(1.0),
            height: (self.height - top - bottom).max(1.0),
        }
    }

    /// Whether both have a point in common that is not at the edge of one.
    pub(super) fn meets(self, other: &Self) -> bool {
        let across = self.x < other.right() && other.x < self.right();
        across && self.y < other.bottom() && other.y < self.bottom()
    }

    pub(super) fn contains(self, (x, y): (f64, f64)) -> bool {
        (self.x..=self.right()).contains(&x) && (self.y..=self.bottom()).contains(&y)
    }

    /// The part of the segment inside (Liang, Barsky).
    fn cut(self, p: (f64, f64), q: (f64, f64)) -> Option<[(f64, f64); 2]> {
        let (dx, dy) = (q.0 - p.0, q.1 - p.1);
        let edges =
            [(-dx, p.0 - self.x), (dx, self.right() - p.0), (-dy, p.1 - self.y), (dy, self.bottom() - p.1)];
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (speed, room) in edges {
            if speed == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if speed < 0.0 {
                enter = enter.max(room / speed);
            } else {
                leave = leave.min(room / speed);
            }
        }
        let at = |t: f64| (p.0 + t * dx, p.1 + t * dy);
        (enter <= leave).then(|| [at(enter), at(leave)])
    }

    /// The parts of a line inside.
    pub(super) fn clip(self, line: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
        for pair in line.windows(2) {
            let Some([p, q]) = self.cut(pair[0], pair[1]) else { continue };
            match parts.last_mut() {
                Some(part) if part.last() == Some(&p) => part.push(q),
                _ => parts.push(vec![p, q]),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Rect = Rect { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };

    #[test]
    fn a_line_through_a_corner_region_is_cut_on_both_sides() {
        let parts = UNIT.clip(&[(-1.0, 0.5), (2.0, 0.5), (2.0, 2.0), (0.5, 2.0), (0.5, -1.0)]);
        assert_eq!(parts, [vec![(0.0, 0.5), (1.0, 0.5)], vec![(0.5, 1.0), (0.5, 0.0)]]);
    }

    #[test]
    fn a_line_inside_stays_whole_and_one_outside_vanishes() {
        let line = [(0.1, 0.1), (0.2, 0.9), (0.8, 0.9)];
        assert_eq!(UNIT.clip(&line), [line.to_vec()]);
        assert!(UNIT.clip(&[(-1.0, -1.0), (-1.0, 3.0), (-0.5, 3.0)]).is_empty());
        assert!(UNIT.clip(&[(-0.5, 0.4), (0.4, -0.5)]).is_empty());
    }

    #[test]
    fn a_rectangle_smaller_than_its_margins_is_a_unit_wide() {
        assert_eq!(UNIT.inset(20.0, 20.0, 20.0, 20.0), Rect { x: 20.0, y: 20.0, ..UNIT });
        let wide = Rect { x: 1.0, y: 2.0, width: 30.0, height: 20.0 };
        assert_eq!(wide.inset(3.0, 4.0, 5.0, 6.0), Rect { x: 4.0, y: 6.0, width: 22.0, height: 10.0 });
    }
}
