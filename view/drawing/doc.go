// Package drawing draws topologies: for Graphviz, for Mermaid, and as SVG. It decides where the
// nodes of a fabric are drawn, how large, and where links meet their boxes.
//
//	switches, hosts, links --> Levels --> line, layers, ring or mesh --> a Drawing --> SVG, the live page
//
// The live page, `lab graph --svg` and `check --html` draw the result of Place; Graphviz and Mermaid, which
// place nodes themselves, are told only Levels.
//
// Read in this order: graph.go (what to draw), graphviz.go (DOT and Mermaid),
// svg.go, marks.go (a picture once, marked in several ways); layout.go (the placement, and which shape it gets), sheet.go (sizes),
// shapes.go (which switch stands where), rows.go (rows of switches with their hosts),
// mesh.go (graphs without a pattern), ends.go (where links meet boxes).
//
// Invariants: the same graph always gets the same text and the same layout; no two boxes touch.
//
// Where no link joins two switches of a level, links pass behind no switch as long as each
// level fits into a row. In a mesh some do: straight links between 200 boxes cannot all
// avoid them.
//
// The layouts of gonum (graph/layout: Eades, Isomap) were considered: they place points,
// not boxes, so that all of rows.go would be needed still, and they promise no
// determinism: forces are summed in the order of maps, and their tests expect other
// results on other processors.
//
// What it does not do: it shows one moment of a topology; the live page moves.
package drawing
