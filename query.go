// This file holds what is asked of a memory and what it answers.

package oxbow

// DefaultLimit is the number of hits that a [Query] without a limit gets.
const DefaultLimit = 5

// MaxLimit is the most hits that one query returns.
const MaxLimit = 1000

// Query is what is looked for. A query without text selects by filter alone,
// newest first.
type Query struct {
	Text    string
	Filter  Filter
	Limit   int    // 0 means [DefaultLimit]; more than [MaxLimit] means that; negative is an error
	AsOf    uint64 // look at the store as it stood after this change; 0 means now
	Explain bool   // fill in [Hit.Explanation]
}

// Hit is an entry that was found.
type Hit struct {
	Entry       Entry
	Score       float64      // higher is better; 0 when the query had no text
	Explanation *Explanation // nil unless asked for
}

// Explanation accounts for a score: the sum of the terms' scores.
type Explanation struct {
	Formula string      // name of the formula, such as "bm25"
	Entries int         // entries in the index, N
	Length  int         // terms in this entry, dl
	AvgLen  float64     // terms in an entry on average, avgdl
	Terms   []TermScore // in the order of the query's terms, sorted
}

// TermScore is what one term of the query gave to a score:
// Score = IDF · TF·(k1+1) / (TF + k1·(1 − b + b·dl/avgdl)).
type TermScore struct {
	Term  string
	TF    int     // times the term stands in this entry
	DF    int     // entries that hold the term
	IDF   float64 // ln((N − DF + 0.5)/(DF + 0.5) + 1)
	Score float64
}

// Diagnosis says why a query found nothing.
type Diagnosis struct {
	Entries    int         // entries in the store
	Terms      []TermCount // the query's terms, with the entries that hold each
	StopWords  bool        // the query held only words too common or too short to look for
	Unfiltered int         // hits without the filter, at most [MaxLimit]
	Removed    []Removal   // conditions of the filter that alone removed everything, and what each alone would leave
	Near       []string    // names, projects or tags near to what was written, best first
}

// TermCount is a term and the number of entries that hold it.
type TermCount struct {
	Term string
	DF   int
}

// Removal is one condition of a filter and the number of the query's hits that
// it alone would let through.
type Removal struct {
	Filter string
	Left   int
}
