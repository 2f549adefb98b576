//! Every format gives the same graph, and a file that is not a graph is refused in one sentence.

use super::*;
use crate::edge_list::ExtraFields;
use ndarray::Array2;

fn read(bytes: &[u8]) -> Result<GraphFile, Error> {
    read_graph(bytes, EdgeListOptions::default(), OneWay::Refuse)
}

fn problem(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// A file of NumPy as NumPy writes it.
fn npy(descriptor: &str, fortran: &str, shape: &str, entries: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descriptor}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(entries);
    bytes
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- a triangle with a tail -->
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="w" for="edge" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="undirected">
    <node id="0"/><node id="1"><data key="x">7</data></node><node id="2"/><node id="3"/>
    <edge source="0" target="1"><data key="w">0.5</data></edge>
    <edge source="1" target="2"/>
    <edge source="2" target="0"/>
    <edge source="3" target="2"/>
  </graph>
</graphml>"#;

#[test]
fn every_format_gives_the_same_graph() -> Result<(), Error> {
    let expected = read(b"0 1\n1 2\n2 0\n2 3\n")?;
    assert_eq!((expected.format, expected.weights_left_out), (Format::EdgeList, false));
    let graphml = read(GRAPHML.as_bytes())?;
    assert_eq!((graphml.format, graphml.weights_left_out), (Format::GraphMl, true));
    assert_eq!(graphml.graph, expected.graph);
    let mut matrix = Array2::zeros((4, 4));
    for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
        (matrix[(u, v)], matrix[(v, u)]) = (1.0, 1.0);
    }
    let array = read(&npy(
        "<f8",
        "False",
        "(4, 4)",
        &matrix.iter().flat_map(|x: &f64| x.to_le_bytes()).collect::<Vec<u8>>(),
    ))?;
    assert_eq!((array.format, array.weights_left_out), (Format::Npy, false));
    assert_eq!(array.graph, expected.graph);
    // Integers of four bytes in two columns, column after column.
    let ends: Vec<u8> = [0_i32, 1, 2, 2, 1, 2, 0, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(read(&npy("<i4", "True", "(4, 2)", &ends))?.graph, expected.graph);
    let booleans: Vec<u8> = matrix.iter().map(|&x| u8::from(x == 1.0)).collect();
    assert_eq!(read(&npy("|b1", "False", "(4, 4)", &booleans))?.graph, expected.graph);
    // MatrixMarket counts from 1.
    let market =
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 5\n2 1 0.5\n3 2 1\n3 1 1\n4 3 1\n4 1 0\n";
    let market = read(market.as_bytes())?;
    assert_eq!((market.format, market.weights_left_out), (Format::MatrixMarket, true));
    assert!(market.graph.edges().eq(expected.graph.edges()));
    assert_eq!(market.graph.labels().unwrap()[0], "1");
    Ok(())
}

#[test]
fn edges_that_go_one_way_are_made_symmetric_on_request_only() -> Result<(), Error> {
    let directed = GRAPHML.replace("undirected", "directed");
    let market = b"%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n2 3\n";
    // 1-2 goes both ways, 2-3 does not: this list has directions.
    for bytes in
        [directed.as_bytes(), market, b"1 2\n2 1\n2 3\n", &npy("|u1", "False", "(2, 2)", &[0, 1, 0, 0])]
    {
        assert!(matches!(read(bytes), Err(Error::OneWayEdges { .. })), "{:?}", read(bytes));
        let both = read_graph(bytes, EdgeListOptions::default(), OneWay::Symmetric)?;
        assert!(both.made_symmetric > 0);
    }
    assert_eq!(problem(market), "1 edge goes one way only, such as \"2\" to \"3\": graphs are undirected");
    // Lists that name each edge once, or each twice, have no direction.
    for text in ["1 2\n3 2\n", "1 2\n2 1\n3 2\n2 3\n"] {
        assert_eq!(read(text.as_bytes())?.made_symmetric, 0);
    }
    Ok(())
}

#[test]
fn weights_and_loops_are_named() -> Result<(), Error> {
    let options = EdgeListOptions { extra_fields: ExtraFields::Skip, ..Default::default() };
    assert!(read_graph(&b"1 2 0.5\n"[..], options, OneWay::Refuse)?.weights_left_out);
    let loops = b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
    assert_eq!(problem(loops), "the MatrixMarket file has an edge from node \"1\" to itself");
    let skip = EdgeListOptions { self_loops: SelfLoops::Skip, ..Default::default() };
    assert_eq!(read_graph(&loops[..], skip, OneWay::Refuse)?.graph.edge_count(), 1);
    Ok(())
}

/// Only the first graph counts, also where a later one has graphs in its nodes.
#[test]
fn later_graphs_are_left_out() -> Result<(), Error> {
    let text = "<graphml><graph><node id=\"1\"/><node id=\"2\"/><edge source=\"1\" target=\"2\"/></graph>\
                <graph><node id=\"x\"><graph><node id=\"y\"/></graph></node><node id=\"z\"/></graph></graphml>";
    let graph = read(text.as_bytes())?.graph;
    assert_eq!((graph.node_count(), graph.edge_count()), (2, 1));
    Ok(())
}

#[test]
fn what_is_no_graph_is_refused() {
    let cases: &[(&[u8], &str)] = &[
        (b"<html><body>404</body></html>", "has no graph"),
        (b"<graphml><graph><edge source=\"1\"/></graph></graphml>", "has a <edge> without target"),
        (
            b"<graphml><graph>\n<node id=\"1\"/>\n<edge source=\"1\" target=\"zoe\"/></graph></graphml>",
            "line 3 of the GraphML file has an edge of \"zoe\"",
        ),
        (
            b"<graphml><graph>\n<node id=\"a\0b\"/></graph></graphml>",
            "line 2 of the GraphML file has a <node> with a NUL byte in its id",
        ),
        (b"1 2\n2 a\0b\n", "line 2 of the edge list has a NUL byte"),
        (b"graph {\n a -- b\n}\n", "line 1 of the edge list begins a DOT file"),
        (b"# drawn\n\nstrict digraph \"G\" {\n a -> b;\n}\n", "line 3 of the edge list begins a DOT file"),
        (b"digraph{a->b}\n", "begins a DOT file"),
        (b"// drawn\ngraph G {\n", "line 2 of the edge list begins a DOT file"),
        (b"digraph G\n{\n a -> b\n}\n", "line 2 of the edge list begins a block"),
        (b"graph [\n  directed 0\n", "begins a GML file"),
        (b"*Vertices 2\n1 \"a\"\n", "begins a Pajek file"),
        (b"{\"nodes\": []}\n", "begins a block"),
        (b"<graphml><graph><node id=\"1\"></graph>", "is no XML"),
        (b"<graphml><graph><graph/></graph></graphml>", "within a graph"),
        (
            b"<graphml><graph>\n<node id=\"1\"/><node id=\"2\"/>\n<edge source=\"1\" target=\"2\"/>\n",
            "line 4 of the GraphML file ends before its last element does",
        ),
        (b"<graphml><graph></graph>\n", "ends before its last element does"),
        (b"<graphml><graph edgedefault=\"Directed\"/></graphml>", "neither directed nor undirected"),
        (
            b"<graphml><graph><edge source=\"1\" target=\"2\" directed=\"yes\"/></graph></graphml>",
            "neither true nor false",
        ),
        (
            b"<graphml><graph/>\n<edge source=\"1\" target=\"2\"/></graphml>",
            "line 2 of the GraphML file has a <edge> outside of a graph",
        ),
        (b"<graphml><graph><edge source=\"1\" source=\"2\" target=\"3\"/></graph></graphml>", "is no XML"),
        (b"<graphml><graph><hyperedge/></graph></graphml>", "more than two nodes"),
        (b"%%MatrixMarket matrix array real general\n2 2\n", "line 1 of the MatrixMarket file must announce"),
        (b"%%MatrixMarket matrix coordinate complex general\n", "pattern, real or integer"),
        (b"%%MatrixMarket matrix coordinate real hermitian\n", "general or symmetric"),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n", "as many columns"),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n", "announces 2"),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n2 1\n", "line 4"),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n0 2\n", "outside the matrix"),
        (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n", "finite number"),
        (b"%%MatrixMarket matrix coordinate real general\n", "before the size"),
        (b"%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 1\n1 2\n", "entries"),
        (b"\x93NUMPY", "ends too early"),
        (&npy("<f8", "False", "(2, 2)", &[0; 31]), "ends too early"),
        (&npy("<f8", "False", "(2, 2)", &[0; 33]), "goes on"),
        (&npy("<c16", "False", "(2, 2)", &[0; 64]), "type <c16"),
        (&npy(">f8", "False", "(2, 2)", &[0; 32]), "little-endian"),
        (&npy("<f8", "False", "(3, 2)", &[0; 48]), "neither"),
        (&npy("<f8", "False", "(4,)", &[0; 32]), "two dimensions"),
        (&npy("|i1", "False", "(3, 2)", &[0, 1, 255, 2, 2, 3]), "-1 as the end"),
        (&npy("<f8", "False", "(1000000000000, 1000000000000)", &[]), "at most 2^32"),
        (&npy("<u4", "False", "(1, 2)", &[0, 0, 0, 0, 255, 255, 255, 0]), "names node"),
    ];
    for (bytes, words) in cases {
        let said = problem(bytes);
        assert!(said.contains(words) && said.lines().count() == 1, "{said}");
    }
    assert_eq!(read(b""), Err(Error::EmptyGraph));
}

/// Words of other formats are names like any others, and nodes may come after their edges.
#[test]
fn what_looks_like_another_format_may_be_an_edge() -> Result<(), Error> {
    for text in ["graph paper\npaper digraph\n", "graphics{ a\n", "strict graph\n", "a graph{\n"] {
        assert!(read(text.as_bytes())?.graph.edge_count() > 0, "{text}");
    }
    let edges =
        "<graphml><graph><edge source=\"b\" target=\"a\"/><node id=\"a\"/><node id=\"b\"/></graph></graphml>";
    assert_eq!(read(edges.as_bytes())?.graph.edge_count(), 1);
    Ok(())
}

fn weighted(text: &str) -> Result<GraphFile, Error> {
    let options = EdgeListOptions { extra_fields: ExtraFields::Weight, ..EdgeListOptions::default() };
    read_graph(text.as_bytes(), options, OneWay::Refuse)
}

#[test]
fn weights_are_those_of_the_edges_in_their_order() -> Result<(), Error> {
    // Nodes are put in numerical order, edges are given both ways or once, a header is skipped.
    for text in [
        "10 7 0.25\n7 9 0.5\n",
        "10 7 0.25\n7 9 0.5\n7 10 0.25\n9 7 0.5\n",
        "from,to,weight\n10,7,0.25\n9,7,5e-1\n",
    ] {
        let file = weighted(text)?;
        assert_eq!(file.graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2)], "{text}");
        assert_eq!((file.weights, file.weights_left_out), (Some(vec![0.5, 0.25]), false), "{text}");
    }
    // The diagonal of a matrix is the share that nodes keep.
    let matrix = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 0.5\n2 1 0.5\n2 2 0.25\n3 2 0.25\n3 3 0.75\n";
    assert_eq!(weighted(matrix)?.weights, Some(vec![0.5, 0.25]));
    assert_eq!(
        weighted(&matrix.replace("3 3 5\n", "3 3 4\n").replace("3 3 0.75\n", ""))
            .map_err(|e| e.to_string())
            .unwrap_err(),
        "the MatrixMarket file has a diagonal, and row \"3\" sums to 0.25, not to 1"
    );
    // If weights are not asked for, they are left out.
    assert_eq!(read_graph("1 2\n".as_bytes(), EdgeListOptions::default(), OneWay::Refuse)?.weights, None);
    Ok(())
}

#[test]
fn weights_that_are_none_are_named() {
    for (text, problem) in [
        ("1 2 0.5\n2 3\n", "has no weight in a third field"),
        ("1 2 0.5\n2 3 heavy\n", "has a weight that is no finite number"),
        ("1 2 0.5\n2 3 inf\n", "has a weight that is no finite number"),
        ("1 2 0.5 7\n", "has more than three fields"),
        ("ann bob heavy\nbob cid 0.5\n", "line 1"),
        ("1 2 heavy\n1 2 heavy\n", "line 2"),
        ("1 2 0.5\n2 1 0.25\n", "the weights 0.5 and 0.25"),
    ] {
        let error = weighted(text).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// The first graph of a file counts, and what follows it does not.
#[test]
fn of_two_graphs_the_first_is_read() -> Result<(), Error> {
    let first = r#"<graph><node id="a"/><node id="b"/><edge source="a" target="b"/></graph>"#;
    let second = r#"<graph><node id="c"/><hyperedge/><edge source="c" target="d"/></graph>"#;
    let found = read(format!("<graphml>{first}{second}</graphml>").as_bytes())?;
    assert_eq!(found.graph.labels().map(<[_]>::len), Some(2));
    assert_eq!(found.graph, read(format!("<graphml>{first}</graphml>").as_bytes())?.graph);
    Ok(())
}

/// One node more than a graph may have.
#[test]
fn as_many_rows_as_32_bits_count_are_too_many() {
    let text = format!("%%MatrixMarket matrix coordinate pattern general\n{0} {0} 0\n", u32::MAX);
    assert!(matches!(read(text.as_bytes()), Err(Error::TooManyNodes(_))));
}

/// A list of `m` edges may leave out nodes, but names none beyond `1000 m`.
#[test]
fn arrays_of_edges_may_leave_out_nodes() -> Result<(), Error> {
    let ends =
        |last: u16| -> Vec<u8> { [0_u16, 1, 1, 2, 2, last].iter().flat_map(|x| x.to_le_bytes()).collect() };
    let found = read(&npy("<u2", "False", "(3, 2)", &ends(3000)))?;
    assert_eq!(found.graph.edge_count(), 3);
    assert!(problem(&npy("<u2", "False", "(3, 2)", &ends(3001))).contains("names node 3001"));
    Ok(())
}
