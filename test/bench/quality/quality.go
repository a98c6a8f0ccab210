// This file runs the measurement: it asks every case of every available set, with every
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

// These rankings are measured in addition to the library's rankings if there is a [vectors.Client].
const (
	Vectors = "vectors" // by cosine similarity of the question and the entry
	Fused   = "fused"   // reciprocal rank fusion of the default ranking and Vectors
)

// Options configure the measurement.
type Options struct {
	Data fs.FS  // directory with the sets
	Root string // path of that directory

	// Sets are the names of the sets to measure. If it is empty, all are measured.
	Sets []string

	// Embedder computes the vectors of texts. It may be nil.
	Embedder *vectors.Client

	// Hits, if not nil, is called with the hits of each question.
	Hits func(set, unit, ranking, question string, hits []oxbow.Hit)

	// Asked, if not nil, is called with the result of each question for each ranking.
	Asked func(QuestionScore)

	// Progress, if not nil, is called with the number of completed questions of a source.
	Progress func(title string, done int)
}

// Report is the result of the measurement.
type Report struct {
	Proof   Proof          `json:"proof"`
	Results []Result       `json:"results"`
	Missing []Missing      `json:"missing,omitempty"`
	Embed   *vectors.Stats `json:"embedding,omitempty"`
}

// Result is the result for one set with one kind of entries.
type Result struct {
	Set      string   `json:"set"`
	Title    string   `json:"title"`
	Unit     string   `json:"entries_are"`
	Files    []string `json:"files"`
	Protocol string   `json:"protocol"`
	Notes    []string `json:"notes,omitempty"` // peculiarities of the data
	Memories int      `json:"memories"`        // number of cases
	Entries  int      `json:"entries"`         // number of entries in all cases
	Rows     []Row    `json:"rows"`
}

// Row is the result of one ranking, either for all questions or for a group of questions.
type Row struct {
	Ranking string `json:"ranking"`
	Group   string `json:"group,omitempty"`
	Scores
}

// Missing is a set that is not available.
type Missing struct {
	Set    string `json:"set"`
	Title  string `json:"title"`
	Expect string `json:"expected"`
	From   string `json:"from"`
}

// limit is the number of hits that are examined.
const limit = 10

// Run runs the measurement. The report lists sets that are not available. If the error is a
// [DataError], the report contains the results for the data that could be read.
func Run(ctx context.Context, o Options) (*Report, error) {
	for _, n := range o.Sets {
		if !slices.Contains(SetNames(), n) {
			return nil, fmt.Errorf("there is no set %q", n)
		}
	}
	r := &Report{Proof: Proof{Published: provenNDCG, Why: "SciFact is not there"}}
	var found []*Source
	for _, s := range Sets() {
		wanted := len(o.Sets) == 0 || slices.Contains(o.Sets, s.Name)
		sources, err := s.Find(o.Data, o.Root)
		if err != nil {
			return nil, err
		}
		if wanted && len(sources) == 0 {
			r.Missing = append(r.Missing, Missing{s.Name, s.Title, s.Expect, s.From})
		}
		if wanted {
			found = append(found, sources...)
		}
		// Verify the scorer, independent of the requested measurements.
		if s.Name == "scifact" && len(sources) > 0 {
			c, err := readSciFact(sources[0])
			if err != nil {
				r.Proof.Why = err.Error() // reported again when its questions are asked
				continue
			}
			r.Proof, err = prove(ctx, c)
			if err != nil {
				return nil, err
			}
		}
	}
	var bad []error
	for _, s := range found {
		rs, err := o.source(ctx, s)
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
		r.Embed = o.Embedder.Stats()
	}
	return r, errors.Join(bad...)
}

// key is a ranking and a group of questions.
type key struct{ ranking, group string }

// tally collects the measurements for one kind of entries.
type tally struct {
	Result
	sums map[key]*sums
}

func (t *tally) add(ranking string, a Ask, found answer) {
	groups := a.Groups
	if !a.Apart {
		groups = append([]string{""}, groups...)
	}
	for _, g := range groups {
		k := key{ranking, g}
		if t.sums[k] == nil {
			t.sums[k] = new(sums)
		}
		t.sums[k].add(found, a.Right)
	}
}

// result fills in the rows: first all questions, then each group.
func (t *tally) result(rankings []string) Result {
	var groups []string
	for k := range t.sums {
		if !slices.Contains(groups, k.group) {
			groups = append(groups, k.group)
		}
	}
	slices.Sort(groups)
	for _, g := range groups {
		for _, r := range rankings {
			if s := t.sums[key{r, g}]; s != nil {
				t.Rows = append(t.Rows, Row{r, g, s.meanScores()})
			}
		}
	}
	return t.Result
}

// source measures one source.
func (o *Options) source(ctx context.Context, s *Source) ([]Result, error) {
	rankings := []string{oxbow.RankSeed, oxbow.RankOxbow}
	if o.Embedder != nil {
		rankings = append(rankings, Vectors, Fused)
	}
	var tallies []*tally // by kind of entries, in order of appearance
	done := 0
	for c, err := range s.Cases() {
		err = cmp.Or(ctx.Err(), err)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(tallies, func(t *tally) bool { return t.Unit == c.Unit })
		if i < 0 {
			i = len(tallies)
			tallies = append(
				tallies,
				&tally{
					Result{Set: s.Set.Name, Title: s.Set.Title, Unit: c.Unit, Files: s.Files, Protocol: s.Set.Protocol},
					map[key]*sums{},
				},
			)
		}
		t := tallies[i]
		t.Memories++
		t.Entries += len(c.Entries)
		for _, r := range rankings[:2] {
			found, err := c.askQuestions(ctx, r, limit, func(question string, hits []oxbow.Hit) {
				if o.Hits != nil {
					o.Hits(s.Set.Name, c.Unit, r, question, hits)
				}
			})
			if err != nil {
				return nil, err
			}
			for j, one := range found {
				a := c.Asks[j]
				t.add(r, a, one)
				if o.Asked != nil && !a.Apart {
					o.Asked(QuestionScore{s.Set.Name, c.Unit, r, done + j, a.Text, ndcg(one.ids, a.Right, limit),
						recallAny(one.ids, a.Right, 5)})
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
		for _, format := range slices.Sorted(maps.Keys(s.notes)) {
			t.Notes = append(t.Notes, fmt.Sprintf(format, s.notes[format]))
		}
		rs = append(rs, t.result(rankings))
	}
	return rs, nil
}

// askVectors asks the questions of a case by vectors, both without and with the fusion with the
// default ranking.
func (o *Options) askVectors(ctx context.Context, c *Case, t *tally) error {
	words, err := c.askQuestions(ctx, oxbow.RankOxbow, fuseDepth, nil)
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
		near := nearest(c.Entries, entries, asked[i], fuseDepth)
		t.add(Vectors, a, answer{ids: near})
		fused, _ := ranking.Fuse(words[i].ids, near)
		t.add(Fused, a, answer{ids: fused})
	}
	return nil
}
