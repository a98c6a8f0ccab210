// This file defines queries, their hits, and the explanations of scores.

package oxbow

import (
	"context"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// Bounds of a [Query].
const (
	DefaultLimit = 5    // maximum number of hits if [Query.Limit] is 0
	MaxLimit     = 1000 // maximum number of hits of any query
	MaxAround    = 10   // maximum number of turns on each side of a hit; see [Query.Around]
)

// The rankings.
const (
	// RankOxbow is BM25 over the fields name, aliases, labels, speaker and body. Each
	// field has a weight. Words are stemmed and lose their diacritics. Identifiers are
	// indexed whole and in parts. Stop words of the query are ignored.
	RankOxbow = ranking.Oxbow

	// RankSeed computes the same scores as crabtalk (its RFC 0150): BM25 over content and
	// aliases, not the name, with crabtalk's analyzer.
	RankSeed = ranking.Seed
)

func checkRanking(name string) error {
	if name == RankOxbow || name == RankSeed {
		return nil
	}
	return &InvalidError{Field: "rank", Value: text.Clip(name, 40), Reason: "is not one of " + RankOxbow + ", " +
		RankSeed}
}

// A Query selects entries by a filter and ranks them by the words of a text. Without text,
// the selected entries are returned newest first.
type Query struct {
	Text   string
	Filter Filter

	// Limit is the maximum number of hits. 0 means [DefaultLimit], values above [MaxLimit]
	// mean MaxLimit, and negative values are an error.
	Limit   int
	AsOf    uint64 // search the store in its state after this change; 0 means the current state
	Explain bool   // set [Hit.Explanation]

	// Weigh sets [Hit.Explanation] faster, from the index only: without Fields, and without
	// the contribution of neighbouring turns of a conversation. With Weigh, no spelling in
	// Text is corrected.
	Weigh bool

	// Collapse removes hits with nearly the same text as a better hit. Their names are
	// added to Alike of the better hit. With Collapse, four times Limit hits are examined.
	Collapse bool
	Rank     string // [RankOxbow] or [RankSeed]; empty means [Options.Ranking]

	// Around is the number of turns that are returned with a hit that is a turn of a
	// conversation: at most Around turns before and Around turns after the hit. Turns that
	// Filter does not select are left out. Negative values and values above [MaxAround] are
	// an error. RankSeed ignores Around.
	Around int

	// Second, if not nil, is a second ranking. The first hundred hits of both rankings are
	// fused by reciprocal rank: the score of a hit is the sum of 1/(60+rank) over the
	// rankings that found it. [Hit.Explanation] then explains the ranking by words only.
	Second Ranker

	// Recency, if above 0, is a half-life that lowers the scores of older entries: a score
	// is multiplied by ½ + ½·2^(−age/Recency). The age of an entry is the time from its
	// last change to Now. For entries that record a moment (Archive, Journal, History) and
	// for imported entries, it is the time from Created to Now. A zero Now means the time
	// of [Options.Clock].
	Recency time.Duration
	Now     time.Time

	// Operators, if not nil, are the operators of the query, such as +word. Package query
	// parses them. RankSeed ignores them and reads only Text.
	Operators *Operators

	// Dates are the date expressions in Text, as package query parses them. RankOxbow
	// raises the scores of entries created in one of these spans a little. No entry is
	// excluded.
	Dates []Span
}

// A Ranker ranks entries by something other than their words, for example by the similarity
// of vectors.
type Ranker interface {
	// Rank returns the IDs of at most limit entries, the best match for words first. It
	// returns nil if it cannot rank them, and then only the ranking by words is used. All
	// must not be used after Rank has returned.
	Rank(ctx context.Context, words string, limit int, all Entries) []uint64
}

// Entries are the entries that a query searches.
type Entries interface {
	Len() int

	// Versions returns the IDs of all entries in ascending order, and the version of each.
	Versions() (ids, versions []uint64)

	// Entry returns the entry with this ID, or nil if there is none.
	Entry(id uint64) *Entry

	// Accepts reports whether the query's filter and operators select an entry.
	Accepts(id uint64) bool
}

// Operators are the parts of a query that have a special meaning.
type Operators struct {
	Words    string   // the words to rank by, used instead of [Query.Text]
	Must     []string // words or phrases that an entry must have: +word, +word* or "a phrase"
	Not      []string // words or phrases that an entry must not have: -word, -word* or -"a phrase"
	Prefixes []string // word*: rank by all words with this prefix
}

// A Span is a date expression in a query, and the time range that it means: from From
// (inclusive) to To (exclusive). A zero From or To means that the range has no bound on
// that side.
type Span struct {
	Text     string
	From, To time.Time
}

// Hit is an entry that a query found.
type Hit struct {
	Entry       Entry
	Score       float64      // higher is better; 0 if the query had no text
	Explanation *Explanation // nil unless [Query.Explain] or [Query.Weigh] is set
	Alike       []string     // names of the hits that say the same and were removed; see [Query.Collapse]

	// Before and After are the turns before and after the hit, in the order of the
	// conversation; see [Query.Around].
	Before, After []Entry
}

// An Explanation explains a score, which is the sum of the scores of its terms.
type Explanation struct {
	Formula string // "bm25" for RankSeed, "oxbow" for RankOxbow
	Entries int    // N: number of entries in the index
	// dl: number of terms in this entry, weighted by field; for a turn of a conversation, 16 is added
	Length float64
	AvgLen float64     // avgdl: average of Length over all entries
	Terms  []TermScore // sorted
}

// A TermScore is the contribution of one query term to a score:
//
//	Score = Weight · IDF · TF·(k1+1) / (TF + k1·(1 − b + b·dl/avgdl))
//
// k1 is 1.2 and b is 0.75. Contributions that do not follow this formula, such as those of
// neighbouring turns, are listed only in Fields.
type TermScore struct {
	Term   string
	Word   string  // the word of the query, if Term is its stem or a corrected spelling
	Weight float64 // weight of the term in the query
	TF     float64 // number of occurrences in this entry, weighted by field
	DF     int     // number of entries with the term
	IDF    float64 // ln((N − DF + 0.5)/(DF + 0.5) + 1); RankOxbow adds 300 texts of ordinary English to N and to DF
	Score  float64
	Fields []FieldScore // the parts of Score, which add up to it except for rounding; nil for RankSeed without Recency
}

// FieldScore is one part of a term's score. Field is one of
//
//   - name, alias, label, body, speaker, user, assistant, date: the field with the term
//   - "beside NAME": a neighbouring turn of the same conversation
//   - "best stretch": the densest part of a dialogue
//   - "how common it is": reduction for a word that is common in English, in a chat
//   - "the name of who speaks": reduction for a word that is the speaker's name
//   - "who speaks": the query names the speaker
//   - "it tells when": the query asks for a time and the turn has one
//   - "it asks", "a program says it", "words it has not": reductions for a question, for
//     program output, and for missing query words
//   - "age": the reduction by [Query.Recency]; for RankSeed, "text" is the rest
type FieldScore struct {
	Field string
	TF    float64
	Score float64
}

// ParsedQuery reports how a query was understood.
type ParsedQuery struct {
	Rank      string
	Terms     []ParsedTerm // the terms that entries are ranked by, in the order of the query
	StopWords bool         // the query has only stop words, which were therefore not ignored
	Dates     []Span
}

// ParsedTerm is a word of a query and the term that the index is searched for.
type ParsedTerm struct {
	Word, Term string
	Corrected  bool    // no entry has Word, and Term differs from it by one typing error
	DF         int     // number of entries with the word
	IDF        float64 // weight of the word; see [TermScore]
}

// A Diagnosis explains why a query has no hits.
type Diagnosis struct {
	Entries    int            // number of entries in the store
	Terms      []ParsedTerm   // the words of the query, sorted
	StopWords  bool           // the query has only words that are too common or too short to search for
	Unfiltered int            // number of hits without the filter, at most [MaxLimit]
	Removed    []FilterEffect // the conditions that exclude hits, and how many hits each would leave on its own
	Near       []string       // similar names, projects or tags, the most similar first
}

// A FilterEffect is one condition of a filter, and the number of hits that the query would
// have with only this condition.
type FilterEffect struct {
	Filter string
	Left   int
}

// checkRecency returns an error if the half-life is negative. It sets q.Now if the half-life
// is used and q.Now is zero.
func checkRecency(q *Query, clock func() time.Time) error {
	switch {
	case q.Recency < 0:
		return &InvalidError{
			Field:  "recency",
			Value:  fmt.Sprint(q.Recency),
			Reason: "is a half-life below 0; 0 is for none",
		}
	case q.Recency > 0 && q.Now.IsZero():
		q.Now = clock()
	}
	return nil
}
