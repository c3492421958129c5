// Package bom takes the byte order mark from the head of a text: some editors write one, and it
// means nothing in UTF-8. Whatever reads a file that people write calls Trim first.
package bom

import "bytes"

// Trim is data without a byte order mark at its head.
func Trim(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }
