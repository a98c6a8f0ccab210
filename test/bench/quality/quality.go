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

	// DataSetNames contains the names of the data sets whose questions are measured. If it is empty, all data sets are
	// measured.
	DataSetNames []string

	// Embedder computes the vectors of texts. It may be nil.
	Embedder *vectors.Client

	// OnQuestionHits is called with the hits for each question. set is the data set's name, and unit names the kind of
	// the entries, such as turns. It may be nil.
	OnQuestionHits func(set, unit, ranking, question string, hits []oxbow.Hit)

	// OnQuestionScore is called with the score of each question for each ranking. It may be nil.
	OnQuestionScore func(QuestionScore)

	// Progress is called with the title of a data set and the number of its questions that are finished. It may be nil.
	Progress func(title string, done int)
}

// Report is the result of the measurement.
type Report struct {
	ScorerCheck     ScorerCheck      `json:"proof"`
	Results         []DataSetResult  `json:"results"`
	MissingDataSets []MissingDataSet `json:"missing,omitempty"`
	EmbeddingStats  *vectors.Stats   `json:"embedding,omitempty"`
}

// DataSetResult is the result for one data set with one kind of entries, such as turns.
type DataSetResult struct {
	DataSetName string          `json:"set"`
	Title       string          `json:"title"`
	EntryKind   string          `json:"entries_are"`
	Files       []string        `json:"files"`
	Protocol    string          `json:"protocol"`
	Notes       []string        `json:"notes,omitempty"` // remarks about errors in the data set
	MemoryCount int             `json:"memories"`        // number of memories in which questions were asked
	EntryCount  int             `json:"entries"`         // number of entries in all memories together
	Rows        []RankingScores `json:"rows"`
}

// RankingScores is one ranking's result, either for all questions or for a group of questions.
type RankingScores struct {
	Ranking       string `json:"ranking"`
	QuestionGroup string `json:"group,omitempty"`
	Scores
}

// MissingDataSet is a data set whose files were not found.
type MissingDataSet struct {
	DataSetName   string `json:"set"`
	Title         string `json:"title"`
	ExpectedFiles string `json:"expected"`
	URL           string `json:"from"`
}

// maxHits is the number of hits for each question that are used to compute the measures, such as nDCG.
const maxHits = 10

// Run runs the measurement. The report lists sets that are not available. If the error is a
// [DataError], the report contains the results for the data that could be read.
func Run(ctx context.Context, o Options) (*Report, error) {
	for _, n := range o.DataSetNames {
		if !slices.Contains(QuestionSetNames(), n) {
			return nil, fmt.Errorf("there is no set %q", n)
		}
	}
	r := &Report{ScorerCheck: ScorerCheck{PublishedNDCG: publishedSciFactNDCG, MismatchReason: "SciFact is not there"}}
	var found []*DataSetSource
	for _, s := range QuestionSets() {
		wanted := len(o.DataSetNames) == 0 || slices.Contains(o.DataSetNames, s.Name)
		sources, err := s.FindSources(o.DataFS, o.DataDir)
		if err != nil {
			return nil, err
		}
		if wanted && len(sources) == 0 {
			r.MissingDataSets = append(
				r.MissingDataSets,
				MissingDataSet{s.Name, s.Title, s.ExpectedFiles, s.DownloadURL},
			)
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
				r.ScorerCheck.MismatchReason = err.Error()
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

// rankingAndQuestionGroup is a ranking and a group of questions.
type rankingAndQuestionGroup struct{ ranking, questionGroup string }

// questionScoreTally adds up the scores for questions about one kind of entries, such as turns.
type questionScoreTally struct {
	DataSetResult
	scoreSumsByRanking map[rankingAndQuestionGroup]*questionScoreSums
}

func (t *questionScoreTally) addResult(ranking string, a CaseQuestion, found questionQueryResult) {
	groups := a.GroupNames
	if !a.IsExcludedFromTotal {
		groups = append([]string{""}, groups...)
	}
	for _, g := range groups {
		k := rankingAndQuestionGroup{ranking, g}
		if t.scoreSumsByRanking[k] == nil {
			t.scoreSumsByRanking[k] = new(questionScoreSums)
		}
		t.scoreSumsByRanking[k].addResult(found, a.RelevantIDs)
	}
}

// addScoreRows adds the mean scores to the result and returns the result. The rows for all questions come first, then
// the rows for each group of questions. Each group has one row for each ranking, in the given order.
func (t *questionScoreTally) addScoreRows(rankings []string) DataSetResult {
	var groups []string
	for k := range t.scoreSumsByRanking {
		if !slices.Contains(groups, k.questionGroup) {
			groups = append(groups, k.questionGroup)
		}
	}
	slices.Sort(groups)
	for _, g := range groups {
		for _, r := range rankings {
			if s := t.scoreSumsByRanking[rankingAndQuestionGroup{r, g}]; s != nil {
				t.Rows = append(t.Rows, RankingScores{r, g, s.meanScores()})
			}
		}
	}
	return t.DataSetResult
}

// measureSource asks all questions of a source with each ranking. It returns one result for each kind of entries. The
// error is a [DataError] if the source cannot be read or contains no question with a known answer.
func (o *Options) measureSource(ctx context.Context, s *DataSetSource) ([]DataSetResult, error) {
	rankings := []string{oxbow.RankSeed, oxbow.RankOxbow}
	if o.Embedder != nil {
		rankings = append(rankings, VectorRanking, FusedRanking)
	}
	var tallies []*questionScoreTally // sums of the scores, one for each kind of entries, in order of appearance
	done := 0
	for c, err := range s.Cases() {
		err = cmp.Or(ctx.Err(), err)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(tallies, func(t *questionScoreTally) bool { return t.EntryKind == c.EntryKind })
		if i < 0 {
			i = len(tallies)
			tallies = append(
				tallies,
				&questionScoreTally{
					DataSetResult{
						DataSetName: s.Set.Name,
						Title:       s.Set.Title,
						EntryKind:   c.EntryKind,
						Files:       s.Files,
						Protocol:    s.Set.Protocol,
					},
					map[rankingAndQuestionGroup]*questionScoreSums{},
				},
			)
		}
		t := tallies[i]
		t.MemoryCount++
		t.EntryCount += len(c.Entries)
		for _, r := range rankings[:2] {
			found, err := c.askQuestions(ctx, r, maxHits, func(question string, hits []oxbow.Hit) {
				if o.OnQuestionHits != nil {
					o.OnQuestionHits(s.Set.Name, c.EntryKind, r, question, hits)
				}
			})
			if err != nil {
				return nil, err
			}
			for j, one := range found {
				a := c.Questions[j]
				t.addResult(r, a, one)
				if o.OnQuestionScore != nil && !a.IsExcludedFromTotal {
					o.OnQuestionScore(
						QuestionScore{
							s.Set.Name,
							c.EntryKind,
							r,
							done + j,
							a.Text,
							ndcg(one.ranking, a.RelevantIDs, maxHits),
							recallAny(one.ranking, a.RelevantIDs, 5),
						},
					)
				}
			}
		}
		if o.Embedder != nil {
			if err := o.askQuestionsByVectors(ctx, &c, t); err != nil {
				return nil, err
			}
		}
		done += len(c.Questions)
		if o.Progress != nil {
			o.Progress(s.Set.Title, done)
		}
	}
	if len(tallies) == 0 {
		return nil, &DataError{s.Files[0], s.Set.DownloadURL, errors.New("it holds no question whose answer is known")}
	}
	var rs []DataSetResult
	for _, t := range tallies {
		for _, format := range slices.Sorted(maps.Keys(s.anomalyCounts)) {
			t.Notes = append(t.Notes, fmt.Sprintf(format, s.anomalyCounts[format]))
		}
		rs = append(rs, t.addScoreRows(rankings))
	}
	return rs, nil
}

// askQuestionsByVectors asks the questions of c by vectors. It adds the scores of two rankings to t: by vectors only,
// and by vectors combined with the default ranking.
func (o *Options) askQuestionsByVectors(ctx context.Context, c *TestCase, t *questionScoreTally) error {
	words, err := c.askQuestions(ctx, oxbow.RankOxbow, fusedEntriesPerRanking, nil)
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
	for _, a := range c.Questions {
		texts = append(texts, a.Text)
	}
	asked, err := o.Embedder.Vectors(ctx, texts)
	if err != nil {
		return err
	}
	for i, a := range c.Questions {
		near := nearestEntries(c.Entries, entries, asked[i], fusedEntriesPerRanking)
		t.addResult(VectorRanking, a, questionQueryResult{ranking: near})
		fused, _ := ranking.FuseRankings(words[i].ranking, near)
		t.addResult(FusedRanking, a, questionQueryResult{ranking: fused})
	}
	return nil
}
