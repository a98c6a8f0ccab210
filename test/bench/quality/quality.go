// The measurement: every case of every set that is there, asked
// of every ranking.

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

// The rankings that stand beside those of the library when there is an
// [vectors.Client].
const (
	Vectors = "vectors" // by the cosine of the question's vector and the entry's
	Fused   = "fused"   // the default ranking and Vectors, fused by reciprocal rank
)

// Options say what is measured.
type Options struct {
	Data fs.FS  // the directory that holds the sets
	Root string // its path

	// Sets are the names of those to measure; all when it is empty.
	Sets []string

	// Embedder makes the vectors of texts; nil for none.
	Embedder *vectors.Client

	// Hits is called, when it is not nil, with the hits of each question.
	Hits func(set, unit, ranking, question string, hits []oxbow.Hit)

	// Asked is called, when it is not nil, with each question that a ranking was
	// asked, and how it did.
	Asked func(QuestionScore)

	// Progress is called, when it is not nil, with the questions of a source
	// that are done.
	Progress func(title string, done int)
}

// Report is what was measured.
type Report struct {
	Proof   Proof          `json:"proof"`
	Results []Result       `json:"results"`
	Missing []Missing      `json:"missing,omitempty"`
	Embed   *vectors.Stats `json:"embedding,omitempty"`
}

// Result is one set measured with one kind of entries.
type Result struct {
	Set      string   `json:"set"`
	Title    string   `json:"title"`
	Unit     string   `json:"entries_are"`
	Files    []string `json:"files"`
	Protocol string   `json:"protocol"`
	Notes    []string `json:"notes,omitempty"` // what is odd in the data
	Memories int      `json:"memories"`        // cases
	Entries  int      `json:"entries"`         // in all of them
	Rows     []Row    `json:"rows"`
}

// Row is what one ranking reached, on all questions or on a group of them.
type Row struct {
	Ranking string `json:"ranking"`
	Group   string `json:"group,omitempty"`
	Scores
}

// Missing is a set that is not there.
type Missing struct {
	Set    string `json:"set"`
	Title  string `json:"title"`
	Expect string `json:"expected"`
	From   string `json:"from"`
}

// limit is how many hits are looked at.
const limit = 10

// Run measures. A set that is not there is named in the report. Beside a
// [DataError] stands the report of what could be read.
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
		// The scorer is proved whatever is measured with it.
		if s.Name == "scifact" && len(sources) > 0 {
			c, err := readSciFact(sources[0])
			if err != nil {
				r.Proof.Why = err.Error() // also said by who asks its questions
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

// tally is what is measured with one kind of entries.
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

// result fills in the rows: all questions first, then each group.
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
				t.Rows = append(t.Rows, Row{r, g, s.scores()})
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
			tallies = append(tallies, &tally{Result{Set: s.Set.Name, Title: s.Set.Title, Unit: c.Unit, Files: s.Files, Protocol: s.Set.Protocol}, map[key]*sums{}})
		}
		t := tallies[i]
		t.Memories++
		t.Entries += len(c.Entries)
		for _, r := range rankings[:2] {
			found, err := c.rankings(ctx, r, limit, func(question string, hits []oxbow.Hit) {
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
					o.Asked(QuestionScore{s.Set.Name, c.Unit, r, done + j, a.Text, ndcg(one.ids, a.Right, limit), recallAny(one.ids, a.Right, 5)})
				}
			}
		}
		if o.Embedder != nil {
			if err := o.vectors(ctx, &c, t); err != nil {
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

// vectors asks the questions of a case by vectors, alone and fused with the
// default ranking.
func (o *Options) vectors(ctx context.Context, c *Case, t *tally) error {
	words, err := c.rankings(ctx, oxbow.RankOxbow, fuseDepth, nil)
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
