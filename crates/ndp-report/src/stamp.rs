//! Records in a picture what made it.

/// The PNG with a text under this key (Latin letters without spaces), which image viewers show among its
/// properties; bytes that are not a PNG are returned unchanged.
#[must_use]
pub fn png(picture: &[u8], key: &str, text: &str) -> Vec<u8> {
    // The signature takes 8 bytes, the header chunk 25; the text may come next.
    let at = 33;
    if !picture.starts_with(b"\x89PNG\r\n\x1a\n") || picture.len() < at {
        return picture.to_vec();
    }
    let mut chunk = b"iTXt".to_vec();
    chunk.extend(key.as_bytes());
    // Not compressed, no language, no translated key.
    chunk.extend([0, 0, 0, 0, 0]);
    chunk.extend(text.as_bytes());
    let Ok(length) = u32::try_from(chunk.len() - 4) else { return picture.to_vec() };
    let mut stamped = picture[..at].to_vec();
    stamped.extend(length.to_be_bytes());
    stamped.extend(&chunk);
    stamped.extend(crc32(&chunk).to_be_bytes());
    stamped.extend(&picture[at..]);
    stamped
}

/// The SVG with a text as its metadata.
#[must_use]
pub fn svg(picture: &str, text: &str) -> String {
    let start = picture.find("<svg").and_then(|at| picture[at..].find('>').map(|end| at + end + 1));
    match start {
        Some(at) => {
            format!("{}<metadata>{}</metadata>{}", &picture[..at], crate::page::escape(text), &picture[at..])
        }
        None => picture.to_owned(),
    }
}

/// The checksum of PNG, computed bit by bit because a text is short.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Figure, Panel, Series};

    /// The check value of CRC-32/ISO-HDLC.
    #[test]
    fn the_checksum_is_that_of_png() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        // The checksum of the empty chunk that ends every PNG.
        assert_eq!(crc32(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn a_stamped_picture_keeps_its_other_bytes() {
        let panel = Panel::curves("a", Axis::linear("x"), Axis::linear("y"))
            .with(Series::data("s").points([(0.0, 1.0), (1.0, 2.0)]));
        let picture = crate::plot::draw(&Figure::new("t").panel(panel)).unwrap();
        let stamped = png(&picture.png, "Software", "ndp 0.1.0 <&>");
        assert_eq!(
            (&stamped[..33], &stamped[33 + 12 + 8 + 5 + 13..]),
            (&picture.png[..33], &picture.png[33..])
        );
        assert!(svg(&picture.svg, "a <b>").contains("<metadata>a &lt;b&gt;</metadata>"));
        assert_eq!(png(b"no picture", "k", "t"), b"no picture");
        assert_eq!(svg("no picture", "t"), "no picture");
    }

    /// The metadata are the first thing within the picture, whose own tag stays whole.
    #[test]
    fn metadata_follow_the_opening_tag() {
        let stamped = svg("<?xml version=\"1.0\"?><svg width=\"1\"><g/></svg>", "t");
        assert_eq!(stamped, "<?xml version=\"1.0\"?><svg width=\"1\"><metadata>t</metadata><g/></svg>");
    }
}
