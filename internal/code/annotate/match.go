// This file declares the positions at which blocks are found.

package annotate

// Placing says how an annotation was found.
type Placing string

const (
	Exact   Placing = "exact"   // same text, same position
	Moved   Placing = "moved"   // same text at a different position, found by the text and its context
	Tracked Placing = "tracked" // same text, found by comparison with the old file or through a rename
	Edited  Placing = "edited"  // similar text, to be checked before use
	Lost    Placing = "lost"    // the lines do not exist any more
)

// match is the position of a block.
type match struct {
	span       Span
	placing    Placing
	confidence float64 // 0 to 1
	how        string
}

var notFound = match{placing: Lost}
