// Queries and answers.

package oxbow

import (
	"context"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow/internal/ranking"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// Bounds of a [Query].
const (
	DefaultLimit = 5    // hits that a query without a limit gets
	MaxLimit     = 1000 // the most hits that one query returns
	MaxAround    = 10   // the most turns to each side of a hit; see [Query.Around]
)

// The rankings.
const (
	// RankOxbow is BM25 over name, aliases, labels, speaker and body, each
	// with a weight; words are stemmed, identifiers whole and in parts,
	// diacritics folded, and the query's stop words left out.
	RankOxbow = ranking.Oxbow

	// RankSeed is crabtalk's ranking (its RFC 0150) to the last term: content
	// and aliases, not the name, with its analyzer.
	RankSeed = ranking.Seed
)

func checkRanking(name string) error {
	if name == RankOxbow || name == RankSeed {
		return nil
	}
	return &InvalidError{Field: "rank", Value: text.Clip(name, 40), Reason: "is not one of " + RankOxbow + ", " + RankSeed}
}

// Query is what is looked for. A query without text selects by filter alone,
// newest first.
type Query struct {
	Text    string
	Filter  Filter
	Limit   int    // 0 means [DefaultLimit]; more than [MaxLimit] means that; negative is an error
	AsOf    uint64 // search the store as it stood after this change; 0 means now
	Explain bool   // fill in [Hit.Explanation]

	// Weigh fills it in by the index alone, in little time: without Fields, and without
	// what stands next to an entry in a talk. No word of Text is corrected then.
	Weigh bool

	// Collapse leaves out what says the same as a better hit, and counts it in
	// that one's Alike. It looks at four times as many hits as are wanted.
	Collapse bool
	Rank     string // [RankOxbow] or [RankSeed]; "" means [Options.Ranking]

	// Around is how many turns of the same talk come with a hit that is one: at
	// most so many before it and after it that the filter selects, at most
	// [MaxAround]; negative is an error. RankSeed knows no turns.
	Around int

	// Second, if not nil, ranks entries in another way, and the first hundred of
	// both rankings are fused by reciprocal rank: a hit's score is the sum of
	// 1/(60+rank). [Hit.Explanation] is of the words alone.
	Second Ranker

	// Recency, if above 0, is a half-life by which older entries rank lower:
	// a score is multiplied by ½ + ½·2^(−age/Recency). An entry is as old as
	// its last change, but one that records a moment (Archive, Journal,
	// History) or was imported counts from its Created. Ages are counted to
	// Now; zero means [Options.Clock]'s time.
	Recency time.Duration
	Now     time.Time

	// Operators, if not nil, are what the query says beyond words. Package
	// query reads them. RankSeed looks at Text only.
	Operators *Operators

	// Dates are the date expressions that stand in Text, as package
	// query understands them. RankOxbow ranks entries created then a little higher,
	// and excludes none.
	Dates []Span
}

// A Ranker ranks entries by other means than their words, as package vectors does.
type Ranker interface {
	// Rank returns IDs of entries, the best for the words first, at most limit;
	// nil for no ranking. All is valid until it returns.
	Rank(ctx context.Context, words string, limit int, all Entries) []uint64
}

// Entries are those that a query may find.
type Entries interface {
	Len() int

	// Versions returns the IDs of all entries, rising, and their versions.
	Versions() (ids, versions []uint64)

	// Entry returns the entry of that ID, nil when there is none.
	Entry(id uint64) *Entry

	// Accepts reports whether the query's filter and operators select an entry.
	Accepts(id uint64) bool
}

// Operators are what a query demands of an entry beyond looking like it.
type Operators struct {
	Words    string   // what is ranked by, in the place of [Query.Text]
	Must     []string // +word, +word*, "a phrase": an entry without it is no hit
	Not      []string // -word, -word*, -"a phrase": an entry with it is no hit
	Prefixes []string // word*: ranked by all words that begin so
}

// Span is a date expression and the time that it names, half-open. A bound that
// is zero is open.
type Span struct {
	Text     string
	From, To time.Time
}

// Hit is an entry that was found.
type Hit struct {
	Entry       Entry
	Score       float64      // higher is better; 0 when the query had no text
	Explanation *Explanation // nil unless asked for
	Alike       []string     // names of hits that say the same and are left out for it; see [Query.Collapse]

	// Before and After are the turns around it, in the order of the talk; see [Query.Around].
	Before, After []Entry
}

// Explanation accounts for a score: the sum of the terms' scores.
type Explanation struct {
	Formula string      // "bm25" for RankSeed, "oxbow" for RankOxbow
	Entries int         // entries in the index, N
	Length  float64     // terms in this entry, each weighing what its field does, dl; of a turn of a talk, 16 more
	AvgLen  float64     // terms in an entry on average, avgdl
	Terms   []TermScore // in the order of the query's terms, sorted
}

// TermScore is what one term of the query gave to a score:
// Score = Weight · IDF · TF·(k1+1) / (TF + k1·(1 − b + b·dl/avgdl)). RankSeed
// has k1 = 1.2 and b = 0.75, RankOxbow 1.2 and 0.5. What an entry has from
// the turns of a talk next to it or from its best stretch, and what it gains or
// loses for who speaks and what it tells, stands among the Fields only.
type TermScore struct {
	Term   string
	Word   string  // of the query, when the term is not what was written: its stem or a correction
	Weight float64 // of the term in the query
	TF     float64 // times the term stands in this entry, each weighing what its field does
	DF     int     // entries that hold the term
	IDF    float64 // ln((N − DF + 0.5)/(DF + 0.5) + 1); for RankOxbow, 300 texts of English at large count in N and DF of words
	Score  float64
	Fields []FieldScore // where Score comes from: they sum to it, to rounding; nil for RankSeed without Recency
}

// FieldScore is the part of a term's score that came from one field: name, alias,
// label, body, speaker, user, assistant or date; or "beside " and the name of an entry
// near to this one in the same talk. Behind those stand what the "best stretch" of a
// dialogue adds, what a word loses in a chat by "how common it is" in English and in a
// turn as one of "the name of who speaks", what a turn gains because the query names "who
// speaks", or asks for a time and "it tells when", and what it loses when "it asks", when "a program
// says it", and for "words it has not". What [Query.Recency] takes is "age", beside "text" for RankSeed.
type FieldScore struct {
	Field string
	TF    float64
	Score float64
}

// ParsedQuery is how a query was understood.
type ParsedQuery struct {
	Rank      string
	Terms     []ParsedTerm // what is ranked by, in the order of the query
	StopWords bool         // the query held only words too common to look for, so they were looked for
	Dates     []Span
}

// ParsedTerm is a word of a query and the term that is looked for.
type ParsedTerm struct {
	Word, Term string
	Corrected  bool    // no entry holds the word: the term is one typing error away
	DF         int     // entries that hold the word
	IDF        float64 // what it counts; see [TermScore]
}

// Diagnosis says why a query found nothing.
type Diagnosis struct {
	Entries    int            // entries in the store
	Terms      []ParsedTerm   // the query's words, sorted
	StopWords  bool           // the query held only words too common or too short to look for
	Unfiltered int            // hits without the filter, at most [MaxLimit]
	Removed    []FilterEffect // conditions of the filter that alone removed everything, and what each alone would leave
	Near       []string       // names, projects or tags near to what was written, best first
}

// FilterEffect is one condition of a filter and the number of the query's hits that
// it alone would let through.
type FilterEffect struct {
	Filter string
	Left   int
}

// checkRecency refuses what is no half-life, and fills in the time that ages
// are counted to.
func checkRecency(q *Query, clock func() time.Time) error {
	switch {
	case q.Recency < 0:
		return &InvalidError{Field: "recency", Value: fmt.Sprint(q.Recency), Reason: "is a half-life below 0; 0 is for none"}
	case q.Recency > 0 && q.Now.IsZero():
		q.Now = clock()
	}
	return nil
}
