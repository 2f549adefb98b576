//! Makes an SVG shorter without changing what it draws.

/// Joins neighbouring paths of the same stroke, and rounds coordinates: those of lines to tenths of a pixel,
/// others to hundredths.
///
/// A path is what kuva writes for a line: `<path d="M 1 2 L 3 4 " stroke=... fill="none" />`. Consecutive
/// lines with the same look become one path with several parts. Filled ones (`Z`) stay separate, because they
/// may overlap and be transparent. Texts and embedded pictures are unchanged.
pub(super) fn concise(svg: &str) -> String {
    let mut short = String::with_capacity(svg.len());
    // The commands of the path that is being joined, and the rest of its tag.
    let mut open: Option<(String, &str)> = None;
    for piece in svg.split_inclusive('>') {
        if let Some((lines, look)) = line_of(piece) {
            match &mut open {
                Some((joined, same)) if *same == look => joined.push_str(&lines),
                _ => {
                    close(&mut short, open.take());
                    open = Some((lines, look));
                }
            }
        } else {
            close(&mut short, open.take());
            match piece.trim_start().starts_with("<image") || !piece.contains('<') {
                true => short.push_str(piece),
                false => short.push_str(&rounded(piece, 2)),
            }
        }
    }
    close(&mut short, open);
    short
}

/// Writes a joined path.
fn close(short: &mut String, path: Option<(String, &str)>) {
    if let Some((lines, look)) = path {
        short.push_str("<path d=\"");
        short.push_str(&lines);
        short.push_str(look);
    }
}

/// The commands of an unfilled path, without spaces around their letters, and the rest of its tag.
fn line_of(piece: &str) -> Option<(String, &str)> {
    let path = piece.trim_start().strip_prefix("<path d=\"")?;
    let (commands, _) = path.split_once('"')?;
    let look = &path[commands.len()..];
    if commands.contains('Z') || !look.contains("fill=\"none\"") || look.contains("opacity") {
        return None;
    }
    let mut lines = String::with_capacity(commands.len());
    for word in commands.split_whitespace() {
        let after_letter = lines.ends_with(char::is_alphabetic) || lines.is_empty();
        if !after_letter && !word.starts_with(char::is_alphabetic) {
            lines.push(' ');
        }
        lines.push_str(&rounded(word, 1));
    }
    Some((lines, look))
}

/// Numbers with more than so many digits after the point, rounded; in a tag with a text before it, those of
/// the tag alone.
fn rounded(piece: &str, digits: u8) -> String {
    let scale = 10f64.powi(digits.into());
    let tag = piece.find('<').unwrap_or(0);
    let mut short = piece[..tag].to_owned();
    let mut rest = &piece[tag..];
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = start
            + rest[start..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len() - start);
        let number = &rest[start..end];
        short.push_str(&rest[..start]);
        match number.split_once('.') {
            Some((_, after)) if after.len() > usize::from(digits) && !after.contains('.') => {
                let value: f64 = number.parse().unwrap_or_default();
                short.push_str(&((scale * value).round() / scale).to_string());
            }
            _ => short.push_str(number),
        }
        rest = &rest[end..];
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::concise;

    /// Lines of one look are one path; another colour or a filled shape between them begins a new one.
    #[test]
    fn lines_of_one_look_are_one_path() {
        let line = |x: &str, color: &str| {
            format!("<path d=\"M {x} 2 L 3 4.5 \" stroke=\"{color}\" stroke-width=\"1\" fill=\"none\" />")
        };
        let joined = |d: &str, color: &str| {
            format!("<path d=\"{d}\" stroke=\"{color}\" stroke-width=\"1\" fill=\"none\" />")
        };
        assert_eq!(
            concise(&[line("1", "#a"), line("7", "#a")].concat()),
            joined("M1 2L3 4.5M7 2L3 4.5", "#a")
        );
        let two = [line("1", "#a"), line("7", "#b")].concat();
        assert_eq!(concise(&two), [joined("M1 2L3 4.5", "#a"), joined("M7 2L3 4.5", "#b")].concat());
        let shape = "<path d=\"M 1 2 L 3 4 Z\" stroke=\"#a\" stroke-width=\"1\" fill=\"none\" />".to_owned();
        let apart = [line("1", "#a"), shape.clone(), line("7", "#a")].concat();
        let expected = [joined("M1 2L3 4.5", "#a"), shape, joined("M7 2L3 4.5", "#a")].concat();
        assert_eq!(concise(&apart), expected);
        let clear = line("1", "#a").replace(" fill", " opacity=\"0.5\" fill").repeat(2);
        assert_eq!(concise(&clear), clear);
    }

    /// Coordinates have two digits after the point; texts and the bytes of embedded pictures are unchanged.
    #[test]
    fn coordinates_are_hundredths_and_texts_stay() {
        let circle = "<circle cx=\"170.14000000000001\" cy=\"-0.126\" r=\"1.6\" />";
        assert_eq!(concise(circle), "<circle cx=\"170.14\" cy=\"-0.13\" r=\"1.6\" />");
        for kept in [
            "<text x=\"1\">delta 0.00001</text><title>sigma 1.23456: 2</title>",
            "<image href=\"data:image/png;base64,A1.23456\"/>",
        ] {
            assert_eq!(concise(kept), kept);
        }
        let path = "<path d=\"M 170.14000000000001 2 L -3.999 4.25 \" stroke=\"#a\" fill=\"none\" />";
        assert_eq!(concise(path), "<path d=\"M170.1 2L-4 4.3\" stroke=\"#a\" fill=\"none\" />");
    }
}
