// This file implements the command named "quality". It measures how well Recall ranks the entries of public data sets.
// The result is printed as Markdown tables or as JSON.

package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/vectors"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
	"github.com/oxbow-memory/oxbow/vfs"
)

// tinyDataSet contains a few questions in the format of the data set LongMemEval, so that the command quality works
// without downloaded data.
//
//go:embed tiny
var tinyDataSet embed.FS

// embeddingKeyVar is the environment variable with the key of an embedding endpoint. It is not a flag, because
// every process of the machine can read flags.
const embeddingKeyVar = "OXBOW_EMBED_KEY"

// qualityFlags contains the flags of the command named "quality". The command measures how well the search finds
// answers.
type qualityFlags struct {
	dataDir, dataSetNames                    string
	showsGroups, json                        bool
	embeddingURL, model                      string
	cache                                    string
	scoresFile                               string
	earlierScoresFile                        string
	embeddingBatchSize, maxEmbeddedTextBytes int
}

func qualityCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	var f qualityFlags
	fl.StringVar(
		&f.dataDir,
		"data",
		"",
		"`DIR` that holds the sets, each in a directory of its own, packed by gzip or not",
	)
	fl.StringVar(
		&f.dataSetNames,
		"set",
		"",
		"only these `SETS`, with commas between: "+strings.Join(quality.QuestionSetNames(), ", "),
	)
	fl.BoolVar(&f.showsGroups, "groups", false, "show each kind of question by itself, too")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.StringVar(
		&f.embeddingURL,
		"embed",
		"",
		"send the texts to the endpoint at `URL` (POST /v1/embeddings, as OpenAI's; its key in $"+embeddingKeyVar+
			") and measure its vectors, too",
	)
	fl.StringVar(&f.model, "embed-model", "", "the `NAME` of the model there")
	fl.IntVar(&f.embeddingBatchSize, "embed-batch", 64, "texts of one request")
	fl.IntVar(&f.maxEmbeddedTextBytes, "embed-bytes", 8000, "cut longer texts off for the model")
	fl.StringVar(&f.cache, "cache", "", "keep vectors in `DIR`, and use what it holds")
	fl.StringVar(&f.scoresFile, "scores", "", "write how each question was answered to `FILE`, as lines of JSON")
	fl.StringVar(
		&f.earlierScoresFile,
		"against",
		"",
		"show the difference to what --scores wrote into `FILE`, question by question, with its 95 % interval",
	)
	return func(ctx context.Context) error { return b.runQuality(ctx, &f) }
}

func (b *bench) runQuality(ctx context.Context, f *qualityFlags) (err error) {
	o := quality.Options{DataFS: fs.FS(tinyDataSet)}
	if f.dataDir != "" {
		if fi, err := os.Stat(f.dataDir); err != nil || !fi.IsDir() {
			return fmt.Errorf("%s is not a directory; %s", f.dataDir, describeDataSetSources())
		}
		o.DataFS, o.DataDir = os.DirFS(f.dataDir), f.dataDir
	}
	if f.dataSetNames != "" {
		o.DataSetNames = strings.Split(f.dataSetNames, ",")
	}
	for _, s := range o.DataSetNames {
		if !slices.Contains(quality.QuestionSetNames(), s) {
			return fmt.Errorf("there is no set %q; there are %s", s, strings.Join(quality.QuestionSetNames(), ", "))
		}
	}
	e, done, err := newEmbedder(f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	o.Embedder = e
	before, err := readScores(f.earlierScoresFile)
	if err != nil {
		return err
	}
	var asked []quality.QuestionScore
	o.OnQuestionScore = func(q quality.QuestionScore) { asked = append(asked, q) }
	o.Progress = func(title string, done int) { b.logf("quality: %s, %d questions", title, done) }
	r, bad := quality.Run(ctx, o)
	hasResults := r != nil && len(r.Results) > 0
	if bad != nil && !hasResults {
		return addQualityAdvice(bad)
	}
	if len(r.Results) == 0 {
		return fmt.Errorf("%s holds none of the sets; %s", f.dataDir, describeDataSetSources())
	}
	if err := b.printQuality(f, r); err != nil {
		return err
	}
	if f.earlierScoresFile != "" {
		b.printComparison(quality.Compare(asked, before))
	}
	if err := writeScores(f.scoresFile, asked); err != nil {
		return err
	}
	if bad != nil {
		return addQualityAdvice(bad) // A data set could not be read, so its results are missing.
	}
	hasFailed := r.ScorerCheck.NDCG > 0 && !r.ScorerCheck.IsPublishedNDCGReproduced && r.ScorerCheck.UsesWholeDataSet()
	if f.dataDir != "" && hasFailed {
		return errors.New("the scorer is not proved: " + r.ScorerCheck.MismatchReason)
	}
	return nil
}

func (b *bench) printQuality(f *qualityFlags, r *quality.Report) error {
	if f.json {
		return json.NewEncoder(b.out).Encode(r)
	}
	b.printTitle("quality", os.TempDir())
	if f.dataDir == "" {
		b.printf(
			"The set is the tiny one that is built in: it shows that the measurement works and says nothing about " +
				"quality. Give --data DIR for real sets.\n\n",
		)
	}
	b.printReport(r, f.showsGroups)
	return nil
}

// describeDataSetSources returns the end of a message about missing data sets. For each data set, it names the title,
// the expected file, and the address from which the data set can be downloaded.
func describeDataSetSources() string {
	var s strings.Builder
	s.WriteString("put there one or more of")
	for _, set := range quality.QuestionSets() {
		fmt.Fprintf(&s, "\n  %s: %s\n    from %s", set.Title, set.ExpectedFiles, set.DownloadURL)
	}
	return s.String()
}

// addQualityAdvice adds advice to an error about an unreadable file or an embedding endpoint.
func addQualityAdvice(err error) error {
	all := []error{err}
	// err joins one error for each data set that could not be read.
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		all = j.Unwrap()
	}
	hint := ""
	for _, one := range all {
		if d := new(quality.DataError); errors.As(one, &d) {
			hint += "\nget " + filepath.Base(d.File) + " again from " + d.URL
		}
	}
	var e *vectors.Error
	if hint != "" || !errors.As(err, &e) {
		return fmt.Errorf("%w%s", err, hint)
	}
	hint = "is it running? With --cache DIR, what was made so far is kept for the next run"
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = "put its key into " + embeddingKeyVar
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		hint = "is the URL that of an endpoint like OpenAI's /v1/embeddings, and does it have the model?"
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		hint = "if the texts are too long for it, lower --embed-bytes or --embed-batch"
	}
	return fmt.Errorf("%w\n%s", err, hint)
}

// newEmbedder returns the client for --embed, or nil without the flag, and a function that must be called
// at the end.
func newEmbedder(f *qualityFlags) (e *vectors.Client, closeEmbedder func() error, err error) {
	none := func() error { return nil }
	switch {
	case f.embeddingURL == "" && (f.model != "" || f.cache != ""):
		return nil, none, errors.New("--embed-model and --cache are about the vectors of an endpoint: add --embed URL")
	case f.embeddingURL == "":
		return nil, none, nil
	case f.model == "":
		return nil, none, errors.New("--embed needs the name of the model: add --embed-model NAME")
	case f.embeddingBatchSize < 1 || f.maxEmbeddedTextBytes < 1:
		return nil, none, fmt.Errorf(
			"--embed-batch and --embed-bytes are %d and %d: give numbers above 0",
			f.embeddingBatchSize,
			f.maxEmbeddedTextBytes,
		)
	}
	e, err = vectors.NewClient(f.embeddingURL, f.model)
	if err != nil {
		return nil, none, fmt.Errorf("%w; for example --embed http://127.0.0.1:11434", err)
	}
	if err := e.SetBearerToken(os.Getenv(embeddingKeyVar)); err != nil {
		return nil, none, err
	}
	e.BatchSize, e.MaxTextBytes = f.embeddingBatchSize, f.maxEmbeddedTextBytes
	dir, drop := f.cache, none
	if dir == "" {
		// The histories of many questions contain the same sessions. Store the vectors of texts in files, so that each
		// is requested only once.
		dir, err = os.MkdirTemp("", "oxbow-vectors-")
		if err != nil {
			return nil, none, fmt.Errorf("making a directory for vectors: %w", err)
		}
		drop = func() error { return os.RemoveAll(dir) }
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, none, fmt.Errorf("making the cache: %w", err)
	}
	fsys, err := vfs.Dir(dir)
	if err != nil {
		return nil, none, errors.Join(err, drop())
	}
	e.Cache = &quality.VectorCache{CacheFS: fsys}
	return e, func() error { return errors.Join(fsys.Close(), drop()) }, nil
}

// printReport prints the report.
func (b *bench) printReport(r *quality.Report, showsGroups bool) {
	share := func(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.4f", x), "0") }
	switch p := r.ScorerCheck; {
	case p.IsPublishedNDCGReproduced:
		b.printf("The scorer is proved: SciFact with k1 0.9, b 0.4 gives nDCG@10 %s, as published.\n\n", share(p.NDCG))
	case p.NDCG > 0:
		b.printf(
			"The scorer is not proved: SciFact with k1 0.9, b 0.4 gives nDCG@10 %s; published is %s: %s.\n\n",
			share(p.NDCG),
			share(p.PublishedNDCG),
			p.MismatchReason,
		)
	default:
		b.printf("The scorer is not proved: %s.\n\n", p.MismatchReason)
	}
	t := newTable(
		"set",
		"ranking",
		"n",
		"any@1",
		"any@5",
		"shown@5",
		"any@10",
		"all@5",
		"R@5",
		"R@10",
		"nDCG@10",
		"retrieved",
		"LongMemEval's",
		"MRR",
	)
	for _, res := range r.Results {
		for _, row := range res.Rows {
			if row.QuestionGroup != "" && !showsGroups {
				continue
			}
			name := strings.TrimSuffix(res.Title+" "+res.EntryKind+", "+row.QuestionGroup, ", ")
			t.addRow(
				name,
				row.Ranking,
				formatCount(row.QuestionCount),
				share(row.RecallAnyAt1),
				share(row.RecallAnyAt5),
				share(row.ShownAnyAt5),
				share(row.RecallAnyAt10),
				share(row.RecallAllAt5),
				share(row.RecallAt5), share(row.RecallAt10), share(row.NDCG), share(row.NDCGRetrieved),
				share(row.NDCGLongMemEval), share(row.MRR),
			)
		}
	}
	b.emitTable(t)
	for _, res := range r.Results {
		b.printf(
			"%s %s: %s entries in %s memories, from %s. %s\n\n",
			res.Title,
			res.EntryKind,
			formatCount(res.EntryCount),
			formatCount(res.MemoryCount),
			strings.Join(res.Files, ", "),
			res.Protocol,
		)
		for _, n := range res.Notes {
			b.printf("In the data, %s.\n\n", n)
		}
	}
	b.printf(
		"any@k: questions with a right entry among the first k; shown@5: or within two turns of one in a talk; " +
			"all@5: with all right ones among the first 5; R@k: the share of them; nDCG@10, as trec_eval has it, and " +
			"MRR: how near to the top they are. Two other nDCG@10 are in use, and not to be compared with it: " +
			"divided by the ideal of what was retrieved, and LongMemEval's own, which does not discount the second. " +
			"In all sets, names tell nothing, an entry is as old as what it holds, 10 hits are looked at, and MRR " +
			"counts none after them.\n\n",
	)
	if e := r.EmbeddingStats; e != nil {
		b.printf(
			"Vectors: %s at %s, %d numbers; %d made in %d requests, %d from the cache; %d texts cut off at %d bytes. "+
				"Fused: the first 100 of oxbow and of vectors, by the sum of 1/(60 + rank).\n\n",
			e.Model,
			e.Endpoint,
			e.Dimension,
			e.ComputedTexts,
			e.Requests,
			e.CachedTexts,
			e.TruncatedTexts,
			e.MaxTextBytes,
		)
	}
	for _, m := range r.MissingDataSets {
		b.printf("Not there: %s: %s, from %s\n\n", m.Title, m.ExpectedFiles, m.URL)
	}
}

// readScores reads a file that writeScores wrote. It returns nil if file is "".
func readScores(file string) (qs []quality.QuestionScore, err error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for d := json.NewDecoder(f); ; {
		var q quality.QuestionScore
		switch err := d.Decode(&q); {
		case err == io.EOF:
			return qs, nil
		case err != nil:
			return nil, fmt.Errorf("reading %s, question %d: %w", file, len(qs)+1, err)
		case q.DataSetName == "" || q.Ranking == "":
			return nil, fmt.Errorf("reading %s: object %d is no line of --scores", file, len(qs)+1)
		}
		qs = append(qs, q)
	}
}

// writeScores writes one line of JSON for each question. It does nothing if file is "".
func writeScores(file string, qs []quality.QuestionScore) error {
	if file == "" {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, q := range qs {
		if err := e.Encode(q); err != nil {
			return err
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}

// printComparison prints the differences to earlier scores.
func (b *bench) printComparison(cs []quality.RankingComparison) {
	t := newTable("difference", "ranking", "n", "nDCG@10", "95 %", "any@5", "95 %")
	for _, c := range cs {
		interval := func(d quality.Difference) string { return fmt.Sprintf("%+.4f to %+.4f", d.LowerBound, d.UpperBound) }
		t.addRow(
			c.DataSetName+" "+c.EntryKind,
			c.Ranking,
			formatCount(c.N),
			fmt.Sprintf("%+.4f", c.NDCG.Mean),
			interval(c.NDCG),
			fmt.Sprintf("%+.4f", c.RecallAnyAt5.Mean),
			interval(c.RecallAnyAt5),
		)
	}
	b.emitTable(t)
}
