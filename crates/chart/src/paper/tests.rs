use super::PaperWidth;
use super::ink::PALETTE;
use super::layout::drawing;
use crate::{Axis, Figure, Legend, Panel, Plot, STYLE, Scale, SeriesStyle};
use maud::html;
use miniz_oxide::inflate::decompress_to_vec_zlib;

/// A curve from the lower left to the upper right corner of its axes, broken in the middle, with a marker.
fn figure() -> Figure {
    let axis = |title: &str| Axis::numbered(Scale::linear(0.0, 10.0), title, 5);
    let mut plot = Plot::new("a curve", axis("time, s"), axis(""), 200);
    plot.curve(
        "x",
        &SeriesStyle(1).line(),
        &[(0.0, 0.0), (4.0, 4.0), (5.0, f64::NAN), (6.0, 6.0), (10.0, 10.0)],
    );
    plot.band("band c2", &[(0.0, 0.0), (1.0, 0.0)], &[(0.0, 1.0), (1.0, 1.0)]);
    plot.mark(SeriesStyle(1), (5.0, 5.0));
    let legend = Legend::new().series(SeriesStyle(1), "a <name> & another");
    let panel = Panel { title: "Goodput".into(), unit: "Mbit/s".into(), legend, plot };
    Figure { id: "f".into(), title: html! {}, class: "", panels: vec![panel], caption: String::new() }
}

#[test]
fn an_svg_file_is_xml_of_the_width_of_a_column() {
    for (width, points) in [(PaperWidth::OneColumn, "252"), (PaperWidth::TwoColumns, "515.52")] {
        let svg = figure().to_svg(width, &[]);
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(document.root_element().attribute("width"), Some(format!("{points}pt").as_str()));
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        for text in ["a <name> & another", "Goodput, Mbit/s", "time, s", "10"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
    }
}

/// The axes of the first panel: width and height.
fn axes_of(figure: &Figure, width: PaperWidth) -> (f64, f64) {
    let svg = figure.to_svg(width, &[]);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let paths = document.descendants().filter(|node| node.has_tag_name("path"));
    let axes = paths.filter_map(|path| path.attribute("d")).find(|d| d.matches('L').count() > 4).unwrap();
    let corners: Vec<Vec<f64>> = axes
        .split(['M', 'L'])
        .skip(1)
        .take(3)
        .map(|corner| corner.split(' ').take(2).map(|number| number.parse().unwrap()).collect())
        .collect();
    (corners[2][0] - corners[1][0], corners[1][1] - corners[0][1])
}

#[test]
fn a_plane_has_the_same_proportions_in_both_widths() {
    let mut plane = figure();
    let panel = plane.panels.remove(0);
    plane.panels.push(Panel { plot: panel.plot.plane(), ..panel });
    for width in [PaperWidth::OneColumn, PaperWidth::TwoColumns] {
        let (across, up) = axes_of(&plane, width);
        assert!((across / up - crate::PLANE.0 / crate::PLANE.1).abs() < 0.01, "{across} {up}");
    }
}

#[test]
fn a_curve_goes_from_corner_to_corner_of_the_axes_and_is_broken_at_a_gap() {
    let svg = figure().to_svg(PaperWidth::OneColumn, &[]);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let paths = || document.descendants().filter(|node| node.has_tag_name("path"));
    let stroked = |colour: &str| {
        let mut of = paths().filter(|path| path.attribute("stroke") == Some(colour));
        of.find(|path| path.attribute("stroke-dasharray").is_some()).and_then(|path| path.attribute("d"))
    };
    // The first path of this colour is the sample of the legend.
    let curve = paths()
        .filter(|path| path.attribute("stroke") == Some("#d55e00"))
        .nth(1)
        .and_then(|path| path.attribute("d"))
        .unwrap();
    assert!(stroked("#d55e00").is_some(), "the second series is dashed");
    let axes = paths().filter_map(|path| path.attribute("d")).find(|d| d.matches('L').count() > 4).unwrap();
    let corners: Vec<&str> = axes.split(['M', 'L']).skip(1).take(3).collect();
    let number = |corner: &str, index: usize| corner.split(' ').nth(index).unwrap().parse::<f64>().unwrap();
    let (top, bottom) = (number(corners[0], 1), number(corners[1], 1));
    let (left, right) = (number(corners[1], 0), number(corners[2], 0));
    let pieces: Vec<Vec<&str>> = curve.split('M').skip(1).map(|piece| piece.split('L').collect()).collect();
    assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert_eq!([number(pieces[0][0], 0), number(pieces[0][0], 1)], [left, bottom]);
    assert_eq!([number(pieces[1][1], 0), number(pieces[1][1], 1)], [right, top]);
    let share = (number(pieces[0][1], 0) - left) / (right - left);
    assert!((share - 0.4).abs() < 1e-3, "{share}");
}

#[test]
fn a_pdf_file_has_one_page_and_needs_no_font() {
    let pdf = figure().to_pdf(PaperWidth::OneColumn, &[]);
    assert_eq!(pdf, figure().to_pdf(PaperWidth::OneColumn, &[]));
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-") && text.trim_end().ends_with("%%EOF"));
    assert!(text.contains("/Count 1") && text.contains("/MediaBox [0 0 252 ") && !text.contains("/Font"));
    let stream = pdf.windows(7).position(|bytes| bytes == b"stream\n").unwrap() + 7;
    let end = pdf.windows(10).rposition(|bytes| bytes == b"\nendstream").unwrap();
    let content = String::from_utf8(decompress_to_vec_zlib(&pdf[stream..end]).unwrap()).unwrap();
    // Outlines of characters are curves, and nothing else in this figure is.
    assert!(content.lines().filter(|line| line.ends_with(" c")).count() > 100);
    assert!(content.contains("/A18 gs"), "the band is transparent");
}

#[test]
fn nothing_is_outside_the_sheet() {
    let drawing = drawing(&figure(), PaperWidth::OneColumn, &[]);
    for shape in &drawing.shapes {
        if let super::drawing::DrawnShape::Path { pieces, .. } = shape {
            for (x, y) in pieces.iter().flatten() {
                assert!((-1.0..=drawing.width + 1.0).contains(x) && (0.0..=drawing.height).contains(y));
            }
        }
    }
}

#[test]
fn the_palette_of_paper_is_that_of_the_style_sheet() {
    let names = ["blue", "vermillion", "green", "purple", "orange", "sky", "black", "olive"];
    for (name, [red, green, blue]) in names.into_iter().zip(PALETTE) {
        // The first colour is that of light pages.
        let colour = format!("--{name}: light-dark(#{red:02x}{green:02x}{blue:02x},");
        assert!(STYLE.contains(&colour), "{colour}");
    }
}
