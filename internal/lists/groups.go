package lists

// Groups is values by what they have in common. The zero value has none.
type Groups[K comparable, V any] struct {
	Keys []K // in the order in which they came
	Of   map[K][]V
}

// Add adds a value.
func (g *Groups[K, V]) Add(key K, v V) {
	if g.Of == nil {
		g.Of = map[K][]V{}
	}
	if g.Of[key] == nil {
		g.Keys = append(g.Keys, key)
	}
	g.Of[key] = append(g.Of[key], v)
}
