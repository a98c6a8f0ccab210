// This file runs the measurement. It asks the questions of each available data set in new memories, with every
// ranking.

package quality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/internal/vectors"
)

// These rankings are measured in addition to the library's rankings, if there is a [vectors.Client].
const (
	VectorRanking = "vectors" // ranking by the cosine similarity of the question and the entry
	FusedRanking  = "fused"   // ranking that combines the default ranking and VectorRanking by reciprocal rank fusion
)

// Options configure the measurement.
type Options struct {
	DataFS  fs.FS  // directory that contains the data sets with questions
	DataDir string // path of this directory, for messages

	// Sets are the names of the data sets whose questions are measured. If it is empty, all data sets are measured.
	Sets []string

	// Embedder computes the vectors of texts. It may be nil.
	Embedder *vectors.Client

	// OnHits is called with the hits for each question. set is the name of the data set, and unit says what the
	// entries are, such as turns. It may be nil.
	OnHits func(set, unit, ranking, question string, hits []oxbow.Hit)

	// OnQuestionScore is called with the score of each question for each ranking. It may be nil.
	OnQuestionScore func(QuestionScore)

	// Progress is called with the number of finished questions in a source. It may be nil.
	Progress func(title string, done int)
}

// Report is the result of the measurement.
type Report struct {
	ScorerCheck    ScorerCheck    `json:"proof"`
	Results        []Result       `json:"results"`
	Missing        []MissingSet   `json:"missing,omitempty"`
	EmbeddingStats *vectors.Stats `json:"embedding,omitempty"`
}

// Result is the result for one data set with one kind of entries, such as turns.
type Result struct {
	Set       string          `json:"set"`
	Title     string          `json:"title"`
	EntryKind string          `json:"entries_are"`
	Files     []string        `json:"files"`
	Protocol  string          `json:"protocol"`
	Notes     []string        `json:"notes,omitempty"` // remarks about errors in the data set
	Memories  int             `json:"memories"`        // number of memories in which questions were asked
	Entries   int             `json:"entries"`         // number of entries in all memories together
	Rows      []RankingScores `json:"rows"`
}

// RankingScores is one ranking's result, either for all questions or for a group of questions.
type RankingScores struct {
	Ranking string `json:"ranking"`
	Group   string `json:"group,omitempty"`
	Scores
}

// MissingSet is a data set whose files were not found.
type MissingSet struct {
	Set           string `json:"set"`
	Title         string `json:"title"`
	ExpectedFiles string `json:"expected"`
	URL           string `json:"from"`
}

// maxHits is the number of hits for each question from which the measures are computed.
const maxHits = 10

// Run runs the measurement. The report lists sets that are not available. If the error is a
// [DataError], the report contains the results for the data that could be read.
func Run(ctx context.Context, o Options) (*Report, error) {
	for _, n := range o.Sets {
		if !slices.Contains(SetNames(), n) {
			return nil, fmt.Errorf("there is no set %q", n)
		}
	}
	r := &Report{ScorerCheck: ScorerCheck{Published: publishedNDCG, Reason: "SciFact is not there"}}
	var found []*Source
	for _, s := range Sets() {
		wanted := len(o.Sets) == 0 || slices.Contains(o.Sets, s.Name)
		sources, err := s.FindSources(o.DataFS, o.DataDir)
		if err != nil {
			return nil, err
		}
		if wanted && len(sources) == 0 {
			r.Missing = append(r.Missing, MissingSet{s.Name, s.Title, s.Expect, s.From})
		}
		if wanted {
			found = append(found, sources...)
		}
		// Check oxbow's scorer with the data set SciFact, for which a result is published, even if other data sets
		// were requested.
		if s.Name == "scifact" && len(sources) > 0 {
			c, err := readSciFact(sources[0])
			if err != nil {
				// measureSource reports the same error if this data set was requested.
				r.ScorerCheck.Reason = err.Error()
				continue
			}
			r.ScorerCheck, err = verifyScorer(ctx, c)
			if err != nil {
				return nil, err
			}
		}
	}
	var bad []error
	for _, s := range found {
		rs, err := o.measureSource(ctx, s)
		if err != nil {
			err = fmt.Errorf("measuring %s: %w", s.Set.Title, err)
			if d := new(DataError); !errors.As(err, &d) {
				return nil, err
			}
			bad = append(bad, err)
		}
		r.Results = append(r.Results, rs...)
	}
	if o.Embedder != nil {
		r.EmbeddingStats = o.Embedder.Stats()
	}
	return r, errors.Join(bad...)
}

// rankingGroup is a ranking and a group of questions.
type rankingGroup struct{ ranking, group string }

// resultTally adds up the scores of the questions about one kind of entries, such as turns.
type resultTally struct {
	Result
	scoreSums map[rankingGroup]*scoreSums
}

func (t *resultTally) addResult(ranking string, a CaseQuestion, found questionResult) {
	groups := a.Groups
	if !a.Apart {
		groups = append([]string{""}, groups...)
	}
	for _, g := range groups {
		k := rankingGroup{ranking, g}
		if t.scoreSums[k] == nil {
			t.scoreSums[k] = new(scoreSums)
		}
		t.scoreSums[k].addResult(found, a.Right)
	}
}

// fillRows adds the mean scores to the result and returns the result. The rows for all questions come first, then the
// rows for each group of questions. Each group has one row for each ranking, in the given order.
func (t *resultTally) fillRows(rankings []string) Result {
	var groups []string
	for k := range t.scoreSums {
		if !slices.Contains(groups, k.group) {
			groups = append(groups, k.group)
		}
	}
	slices.Sort(groups)
	for _, g := range groups {
		for _, r := range rankings {
			if s := t.scoreSums[rankingGroup{r, g}]; s != nil {
				t.Rows = append(t.Rows, RankingScores{r, g, s.meanScores()})
			}
		}
	}
	return t.Result
}

// measureSource asks all questions of a source with each ranking. It returns one result for each kind of entries. The
// error is a [DataError] if the source cannot be read or contains no question with a known answer.
func (o *Options) measureSource(ctx context.Context, s *Source) ([]Result, error) {
	rankings := []string{oxbow.RankSeed, oxbow.RankOxbow}
	if o.Embedder != nil {
		rankings = append(rankings, VectorRanking, FusedRanking)
	}
	var tallies []*resultTally // sums of the scores, one for each kind of entries, in order of appearance
	done := 0
	for c, err := range s.Cases() {
		err = cmp.Or(ctx.Err(), err)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(tallies, func(t *resultTally) bool { return t.EntryKind == c.Unit })
		if i < 0 {
			i = len(tallies)
			tallies = append(
				tallies,
				&resultTally{
					Result{
						Set:       s.Set.Name,
						Title:     s.Set.Title,
						EntryKind: c.Unit,
						Files:     s.Files,
						Protocol:  s.Set.Protocol,
					},
					map[rankingGroup]*scoreSums{},
				},
			)
		}
		t := tallies[i]
		t.Memories++
		t.Entries += len(c.Entries)
		for _, r := range rankings[:2] {
			found, err := c.askQuestions(ctx, r, maxHits, func(question string, hits []oxbow.Hit) {
				if o.OnHits != nil {
					o.OnHits(s.Set.Name, c.Unit, r, question, hits)
				}
			})
			if err != nil {
				return nil, err
			}
			for j, one := range found {
				a := c.Asks[j]
				t.addResult(r, a, one)
				if o.OnQuestionScore != nil && !a.Apart {
					o.OnQuestionScore(
						QuestionScore{s.Set.Name, c.Unit, r, done + j, a.Text, ndcg(one.ranking, a.Right, maxHits),
							recallAny(one.ranking, a.Right, 5)},
					)
				}
			}
		}
		if o.Embedder != nil {
			if err := o.askVectors(ctx, &c, t); err != nil {
				return nil, err
			}
		}
		done += len(c.Asks)
		if o.Progress != nil {
			o.Progress(s.Set.Title, done)
		}
	}
	if len(tallies) == 0 {
		return nil, &DataError{s.Files[0], s.Set.From, errors.New("it holds no question whose answer is known")}
	}
	var rs []Result
	for _, t := range tallies {
		for _, format := range slices.Sorted(maps.Keys(s.anomalies)) {
			t.Notes = append(t.Notes, fmt.Sprintf(format, s.anomalies[format]))
		}
		rs = append(rs, t.fillRows(rankings))
	}
	return rs, nil
}

// askVectors asks the questions of c by vectors. It adds the scores of two rankings to t: by vectors only, and by
// vectors combined with the default ranking.
func (o *Options) askVectors(ctx context.Context, c *Case, t *resultTally) error {
	words, err := c.askQuestions(ctx, oxbow.RankOxbow, fusedEntries, nil)
	if err != nil {
		return err
	}
	texts := make([]string, len(c.Entries))
	for i, e := range c.Entries {
		texts[i] = e.Text
	}
	entries, err := o.Embedder.Vectors(ctx, texts)
	if err != nil {
		return err
	}
	texts = texts[:0]
	for _, a := range c.Asks {
		texts = append(texts, a.Text)
	}
	asked, err := o.Embedder.Vectors(ctx, texts)
	if err != nil {
		return err
	}
	for i, a := range c.Asks {
		near := nearestEntries(c.Entries, entries, asked[i], fusedEntries)
		t.addResult(VectorRanking, a, questionResult{ranking: near})
		fused, _ := ranking.FuseRankings(words[i].ranking, near)
		t.addResult(FusedRanking, a, questionResult{ranking: fused})
	}
	return nil
}
