// This file defines queries, their hits, and the explanations of scores.

package oxbow

import (
	"cmp"
	"context"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// Limits for the fields of a [Query].
const (
	DefaultLimit = 5    // maximum number of hits if [Query.Limit] is 0
	MaxLimit     = 1000 // maximum value of Query.Limit
	MaxAround    = 10   // maximum for Query.Around, in turns on each side of a hit
)

// The rankings.
const (
	// RankOxbow is BM25 over the fields name, aliases, labels, speaker and body. Each
	// field has a weight. Words are stemmed and lose their diacritics. Identifiers are
	// indexed whole and in parts. Stop words of the query are ignored.
	RankOxbow = ranking.OxbowRanking

	// RankSeed computes the same scores as crabtalk (its RFC 0150): BM25 with crabtalk's
	// analyzer over content and aliases, but not the name.
	RankSeed = ranking.SeedRanking
)

func checkRanking(name string) error {
	if name == RankOxbow || name == RankSeed {
		return nil
	}
	return &InvalidError{
		Field: "rank",
		Value: text.TruncateWithEllipsis(name, 40),
		Reason: "is not one of " + RankOxbow + ", " +
			RankSeed,
	}
}

// A Query selects entries by a filter and ranks them by the words of a text. Without text,
// the selected entries are returned newest first.
type Query struct {
	// Text has the words to rank by. Filters such as project:harbor in it are ordinary words;
	// query.Parse reads a text with filters and operators into a Query.
	Text   string
	Filter Filter // only entries that match the filter are returned

	// Limit is the maximum number of hits. 0 means [DefaultLimit], values above [MaxLimit]
	// mean MaxLimit, and negative values are an error.
	Limit   int
	AsOf    uint64 // search the store as it was after this change (0 means the current state)
	Explain bool   // set [Hit.Explanation]

	// Weigh sets [Hit.Explanation] faster than Explain does, because only the index is read. The explanation then
	// lacks Fields and ignores neighbouring turns of a conversation. With Weigh, misspelled words in Text are not
	// corrected.
	Weigh bool

	// Collapse removes hits with nearly the same text as a better hit. Their names are added to the better hit's field
	// [Hit.Alike]. With Collapse, four times Limit hits are examined.
	Collapse bool
	Rank     string // [RankOxbow] or [RankSeed] (empty means [Options.Ranking])

	// Around is for hits that are turns of a conversation. At most this many turns before the hit and this many turns
	// after the hit are returned with the hit. Turns that Filter does not select are left out. Negative values and
	// values above [MaxAround] are an error. RankSeed ignores Around.
	Around int

	// Second, if not nil, is a second ranking. The first hundred hits of both rankings are
	// fused by reciprocal rank. A hit's score is the sum of 1/(60+rank) over the rankings
	// that found it. [Hit.Explanation] then explains the ranking by words only.
	Second Ranker

	// Recency, if above 0, is a half-life that lowers the scores of older entries. A score
	// is multiplied by ½ + ½·2^(−age/Recency). The age of an entry is the time from its
	// last change to Now. For entries that record a moment (Archive, Journal, History) and
	// for imported entries, it is the time from Created to Now. A zero Now means the time
	// of [Options.Clock].
	Recency time.Duration
	Now     time.Time

	// Operators, if not nil, are the operators of the query, such as +word. Package query
	// parses them. RankSeed ignores them and reads only Text.
	Operators *Operators

	// Dates are the date expressions in Text, as package query parses them. RankOxbow slightly raises the scores of
	// entries created in such a span. No entry is excluded.
	Dates []Span
}

// A Ranker ranks entries by something other than their words, for example by the similarity
// of vectors.
type Ranker interface {
	// Rank returns the IDs of at most limit entries. The entry that fits the text in the parameter words best comes
	// first. If Rank cannot rank entries, it returns nil. Recall then uses only the ranking by words. The argument all
	// must not be used after Rank has returned.
	Rank(ctx context.Context, words string, limit int, all Entries) []uint64
}

// Entries are the entries that a query searches.
type Entries interface {
	Len() int

	// Versions returns the IDs of all entries in ascending order, and each entry's
	// version.
	Versions() (ids, versions []uint64)

	// Entry returns the entry with this ID, or nil if the ID is unknown.
	Entry(id uint64) *Entry

	// Accepts reports whether the query's filter and operators select an entry.
	Accepts(id uint64) bool
}

// Operators are the parts of a query that have a special meaning.
type Operators struct {
	Words    string   // the words to rank by, used instead of [Query.Text]
	Must     []string // words or phrases that an entry must have, typed as +word, +word* or "a phrase"
	Not      []string // words or phrases that an entry must not have, typed as -word, -word* or -"a phrase"
	Prefixes []string // prefixes typed as word*, each of which searches for all words that begin with it
}

// A Span is a date expression in a query and the time range that it means. The field From is the inclusive start of the
// range, and the field To is its exclusive end. If From or To is zero, the range is unbounded on that side.
type Span struct {
	Text     string
	From, To time.Time
}

// Hit is an entry that a query found.
type Hit struct {
	Entry       Entry
	Score       float64      // higher is better (0 if the query had no text)
	Explanation *Explanation // nil unless [Query.Explain] or [Query.Weigh] is set
	Alike       []string     // names of the near-duplicates that [Query.Collapse] removed

	// Before and After are the turns around the hit, in the order of the
	// conversation (see [Query.Around]).
	Before, After []Entry
}

// An Explanation shows how a score was computed. The score is the sum of the
// terms' scores.
type Explanation struct {
	Formula string // "bm25" for RankSeed, "oxbow" for RankOxbow
	Entries int    // number of entries in the index, N in the formulas
	// number of terms in this entry, weighted by field (a conversation turn counts 16 more). The formulas call it dl.
	Length float64
	AvgLen float64     // average Length over all entries, avgdl in the formulas
	Terms  []TermScore // query terms with their scores, in sorted order
}

// A TermScore is the contribution of one query term to a score:
//
//	Score = Weight · IDF · TF·(k1+1) / (TF + k1·(1 − b + b·dl/avgdl))
//
// k1 is 1.2 and b is 0.75. Contributions that do not follow this formula, for example from
// neighbouring turns, are listed only in Fields.
type TermScore struct {
	Term   string
	Word   string  // the word of the query, if Term is its stem or a corrected spelling
	Weight float64 // weight of the term in the query
	TF     float64 // number of occurrences of the term in this entry, weighted by field
	DF     int     // number of entries with the term
	// ln((N − DF + 0.5)/(DF + 0.5) + 1), where N is [Explanation.Entries]. For RankOxbow, 300 texts of ordinary
	// English also count in N and DF.
	IDF    float64
	Score  float64
	Fields []FieldScore // parts whose sum is Score, except for rounding. Nil for RankSeed if the query has no Recency.
}

// A FieldScore is a part of a term's score. Field says where the part comes from:
//
//   - name, alias, label, body, speaker, user, assistant, date: the field with the term
//   - "beside NAME": a neighbouring turn in the conversation
//   - "best stretch": the densest part of a dialogue
//   - "how common it is": in a chat, the reduction for a word that is common in English
//   - "the name of who speaks": reduction for a word that is the speaker's name
//   - "who speaks": the query names the speaker
//   - "it tells when": the query asks for a time and the turn has one
//   - "it asks": reduction for a turn that is a question
//   - "a program says it": reduction for a turn of a program
//   - "words it has not": reduction for a turn that lacks some words of the query
//   - "age": the reduction by [Query.Recency]
//   - "text": for RankSeed, the score before the reduction by age
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
	// Word is in no entry, and Term is a word of the index that differs from it by a single
	// typing error
	Corrected bool
	DF        int     // number of entries that contain Term
	IDF       float64 // weight of the word (see [TermScore])
}

// A Diagnosis explains why a query found nothing.
type Diagnosis struct {
	Entries    int          // number of entries in the store
	Terms      []ParsedTerm // the words of the query, sorted
	StopWords  bool         // the query has only words that are too common or too short to search for
	Unfiltered int          // number of hits that the query has without its filter, at most [MaxLimit]
	// query conditions that exclude hits; FilterEffect.Left is the number of hits that the query has with only this
	// condition
	Removed []FilterEffect
	Near    []string // names, projects or tags that resemble words of the query, the most similar first
}

// A FilterEffect is a condition in a query, and its effect. The field Left is the number of hits that the query has if
// this condition is its only condition. The condition is a part of the filter (see [Filter.Parts]), or a required or
// excluded word or phrase.
type FilterEffect struct {
	Filter Filter
	Clause string // required or excluded words, such as +harbor or -"two words" ("" if Filter is the condition)
	Left   int
}

// String returns the query condition in a short form, such as tag:decision or +harbor.
func (e FilterEffect) String() string { return cmp.Or(e.Clause, e.Filter.Brief()) }
