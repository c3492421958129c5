// Package layout decides where the nodes of a fabric are drawn, how large, and where links
// meet their boxes.
//
//	switches, hosts, links --> Levels --> line, layers, ring or mesh --> a Drawing
//
// The live page and `lab graph --svg` draw the result of Place; Graphviz and Mermaid, which
// place nodes themselves, are told only Levels.
//
// Read in this order: layout.go (the graph, and which shape it gets), sheet.go (sizes),
// shapes.go (which switch stands where), rows.go (rows of switches with their hosts),
// mesh.go (graphs without a pattern), ends.go (where links meet boxes).
//
// Invariants: the same graph always gets the same layout; no two boxes touch.
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
// What it does not do: it draws nothing and handles no names.
package drawing
