// This file implements the command named "labels". It measures how often a label that oxbow proposes is right, and how
// well the confidence of the label predicts this. Some labels are hidden, and the proposals are compared with them.

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/label"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
	"github.com/oxbow-memory/oxbow/vfs"
)

// projectLabelledEntry is an entry for which the correct project is known.
type projectLabelledEntry struct {
	project, text string
	files         []string // files that the entry's labels name, if any
}

// labelSets contains sets of entries for measuring proposed labels. Each entry is labelled with a project. A project
// is, for example, the talks between one pair of people, a meeting, or a repository with source files.
var labelSets = []struct {
	name, what string
	read       func(data fs.FS) ([]projectLabelledEntry, error)
}{
	{"LoCoMo sessions", "5 talks, one entry a session", func(d fs.FS) ([]projectLabelledEntry, error) {
		return readLoCoMoEntries(d, false)
	}},
	{"LoCoMo turns", "5 talks, one entry for four turns", func(d fs.FS) ([]projectLabelledEntry, error) {
		return readLoCoMoEntries(d, true)
	}},
	{"QMSum", "35 meetings, one entry for about 1,000 bytes", readMeetingEntries},
	{
		"linedrift",
		"3 repositories, one entry for seven lines of a file, without its name",
		func(d fs.FS) ([]projectLabelledEntry, error) {
			return readSourceLines(d, false)
		},
	},
	{"linedrift, files", "the same, each named with its file", func(d fs.FS) ([]projectLabelledEntry, error) {
		return readSourceLines(d, true)
	}},
}

func labelsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	data := fl.String("data", "", "`DIR` that holds locomo-dev, qmsum-val and linedrift-dev")
	seed := fl.Uint64("seed", 1, "`SEED` of the choice of entries whose label is left out")
	return func(ctx context.Context) error {
		if *data == "" {
			return errors.New("measuring labels: say where the sets are with --data DIR")
		}
		b.printTitle("labels", os.TempDir())
		b.printf(
			"Protocol: of each set, the project of a share of the entries is left out, chosen at random (seed %d); "+
				"label.Suggest proposes one for each of those; right is the one left out. Nothing of the answer is "+
				"told but the labels of the others. In the last rows of a share one project is left out whole, so "+
				"that every proposal for its entries is wrong.\n\n",
			*seed,
		)
		t := newTable(
			"set",
			"hidden",
			"entries",
			"said",
			"right",
			"said ≥ 0.5",
			"right",
			"said ≥ 0.8",
			"right",
			"said ≥ 0.95",
			"right",
			"calibration error",
		)
		for _, s := range labelSets {
			es, err := s.read(os.DirFS(*data))
			if err != nil {
				return fmt.Errorf("reading %s: %w", s.name, err)
			}
			for _, h := range []struct {
				name  string
				share float64
				whole bool
			}{{"20 %", 0.2, false}, {"50 %", 0.5, false}, {"90 %", 0.9, false}, {"50 %, one whole", 0.5, true}} {
				r, err := judgeHiddenLabels(ctx, es, h.share, h.whole, *seed)
				if err != nil {
					return fmt.Errorf("measuring %s: %w", s.name, err)
				}
				t.addRow(append([]string{s.name, h.name, formatCount(r.hiddenLabelCount)}, r.tableCells()...)...)
				b.logf("labels: %s, %s hidden", s.name, h.name)
			}
		}
		b.emitTable(t)
		b.printf(
			"Said is the share of the entries asked about that got a proposal of at least that confidence; right is " +
				"the share of those that is right. The calibration error is the mean distance between confidence and " +
				"truth over ten bands of confidence, weighted by their proposals (expected calibration error).\n",
		)
		return nil
	}
}

// labelProposalVerdicts contains, for each project label that oxbow proposed for an entry, the confidence of the
// proposal and whether it was right.
type labelProposalVerdicts struct {
	hiddenLabelCount int
	confidences      []float64
	isProposalRight  []bool
}

// proposalShares evaluates the proposals with at least the confidence minConfidence. proposedShare is the number of
// these proposals, divided by the number of hidden labels. correctShare is the share of these proposals that are right.
// Without such proposals, both results are 0.
func (v labelProposalVerdicts) proposalShares(minConfidence float64) (proposedShare, correctShare float64) {
	n, k := 0, 0
	for i, c := range v.confidences {
		if c >= minConfidence {
			n++
			if v.isProposalRight[i] {
				k++
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	return float64(n) / float64(v.hiddenLabelCount), float64(k) / float64(n)
}

// calibrationError returns the expected calibration error over ten ranges of confidence. It measures how far the
// confidence of the proposals is from the share of proposals that are right. Without proposals, it returns 0.
func (v labelProposalVerdicts) calibrationError() float64 {
	var n, right, sure [10]float64
	for i, c := range v.confidences {
		band := min(9, int(c*10))
		n[band]++
		sure[band] += c
		if v.isProposalRight[i] {
			right[band]++
		}
	}
	sum := 0.0
	for i := range n {
		if n[i] > 0 {
			sum += max(sure[i]-right[i], right[i]-sure[i])
		}
	}
	if len(v.confidences) == 0 {
		return 0
	}
	return sum / float64(len(v.confidences))
}

func (v labelProposalVerdicts) tableCells() []string {
	var cs []string
	for _, least := range []float64{0, 0.5, 0.8, 0.95} {
		said, right := v.proposalShares(least)
		cs = append(cs, fmt.Sprintf("%.3f", said), fmt.Sprintf("%.3f", right))
	}
	return append(cs, fmt.Sprintf("%.3f", v.calibrationError()))
}

// judgeHiddenLabels tests how well oxbow proposes project labels. It hides the project label of a random share of the
// entries es, and lets oxbow propose labels for these entries. If hidesWholeProject is set, it also hides the label of
// all entries in the project of es[0]. v contains the number of hidden labels, and for each proposal its confidence and
// whether it is right.
func judgeHiddenLabels(
	ctx context.Context,
	es []projectLabelledEntry,
	hiddenLabelShare float64,
	hidesWholeProject bool,
	seed uint64,
) (v labelProposalVerdicts, err error) {
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	rng := rand.New(rand.NewPCG(seed, 0))
	truth := map[string]string{}
	var ops []oxbow.Op
	for i, e := range es {
		name := fmt.Sprintf("n%05d", i)
		op := oxbow.Add{Name: name, Content: e.text}
		for _, f := range e.files {
			op.Labels = append(op.Labels, oxbow.Label{Key: oxbow.LabelFile, Value: f})
		}
		isDrawn := rng.Float64() < hiddenLabelShare
		isOfWhole := hidesWholeProject && e.project == es[0].project
		if isDrawn || isOfWhole {
			truth[name] = e.project
		} else {
			op.Labels = append(op.Labels, oxbow.Label{Key: oxbow.LabelProject, Value: e.project})
		}
		ops = append(ops, op)
	}
	if err := m.Apply(ctx, ops...); err != nil {
		return v, err
	}
	ss, err := label.Suggest(ctx, m, label.SuggestOptions{LabelKeys: []string{oxbow.LabelProject}, MinConfidence: 1e-9})
	if err != nil {
		return v, err
	}
	v.hiddenLabelCount = len(truth)
	for _, s := range ss {
		right, hidden := truth[s.Name]
		if !hidden {
			return v, fmt.Errorf("entry %s has a project and got another proposed", s.Name)
		}
		v.confidences = append(v.confidences, s.Confidence)
		v.isProposalRight = append(v.isProposalRight, s.Label.Value == right)
	}
	return v, nil
}

// readLoCoMoEntries reads the conversations of the data set LoCoMo. If splitsSessions is set, it makes an entry from
// every four turns, otherwise from every session. The project of an entry is the conversation's number.
func readLoCoMoEntries(data fs.FS, splitsSessions bool) ([]projectLabelledEntry, error) {
	src, err := quality.FindSource(data, ".", "locomo")
	if err != nil {
		return nil, err
	}
	var es []projectLabelledEntry
	n := 0
	for talk, err := range src.Conversations() {
		if err != nil {
			return nil, err
		}
		n++
		project := fmt.Sprintf("talk-%d", n)
		if !splitsSessions {
			for _, s := range talk.Sessions {
				es = append(es, projectLabelledEntry{project: project, text: s.Text})
			}
			continue
		}
		for ts := range slices.Chunk(talk.Turns, 4) {
			var b strings.Builder
			for _, t := range ts {
				b.WriteString(t.Text + "\n\n")
			}
			es = append(es, projectLabelledEntry{project: project, text: strings.TrimSpace(b.String())})
		}
	}
	return es, nil
}

// readMeetingEntries reads the meetings of the data set QMSum as entries. The number of the meeting serves as the
// entry's project.
func readMeetingEntries(data fs.FS) ([]projectLabelledEntry, error) {
	src, err := quality.FindSource(data, ".", "qmsum")
	if err != nil {
		return nil, err
	}
	var es []projectLabelledEntry
	n := 0
	for m, err := range src.Meetings() {
		if err != nil {
			return nil, err
		}
		n++
		var b strings.Builder
		for _, t := range m.Turns {
			b.WriteString(t.Text + "\n\n")
		}
		for _, p := range splitText(b.String(), entryTextBytes) {
			es = append(es, projectLabelledEntry{project: fmt.Sprintf("meeting-%d", n), text: p})
		}
	}
	return es, nil
}

// readSourceLines makes entries of lines in source files. The project of an entry is the file's repository.
func readSourceLines(data fs.FS, includesFileNames bool) ([]projectLabelledEntry, error) {
	var es []projectLabelledEntry
	for _, repo := range []string{"bbolt", "litestream", "restic"} {
		err := eachGzipLine(data, "linedrift-dev/"+repo+".jsonl.gz", func(line []byte) error {
			var l struct {
				File          string `json:"fa"`
				Text          string
				Before, After []string
			}
			if err := json.Unmarshal(line, &l); err != nil {
				return err
			}
			e := projectLabelledEntry{project: repo, text: strings.Join(l.Before, "\n") + "\n" + l.Text + "\n" +
				strings.Join(l.After, "\n")}
			if strings.TrimSpace(e.text) == "" {
				return nil
			}
			if includesFileNames {
				e.text = "In " + l.File + ":\n\n" + e.text
			}
			// Replace the name of the repository in the text. The benchmark must guess the repository from the text,
			// and the name would reveal it.
			e.text = strings.ReplaceAll(e.text, repo, "thisrepo")
			es = append(es, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return es, nil
}

// eachGzipLine calls fn for each line of a gzip file. It skips blank lines. It returns the first error of reading or of
// fn, with the number of the line in an error of fn.
func eachGzipLine(data fs.FS, name string, fn func(line []byte) error) (err error) {
	f, err := data.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path.Base(name), err)
	}
	r := bufio.NewReader(z)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			if err := fn(line); err != nil {
				return fmt.Errorf("reading line %d of %s: %w", n, path.Base(name), err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", path.Base(name), err)
		}
	}
}
