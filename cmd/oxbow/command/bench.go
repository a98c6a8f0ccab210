// This file holds "oxbow bench": measurements that anyone can repeat on public
// data.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/quality"
	"github.com/oxbow-memory/oxbow/vfs"
)

func (a *app) benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure how well recall ranks, on public data sets",
		Example: `  oxbow bench quality --data ~/sets
  oxbow help bench quality`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misusef("oxbow help bench lists what there is", "unknown command %q for oxbow bench", args[0])
			}
			return cmd.Help()
		},
	}
	sub := a.benchQualityCommand()
	a.finish(sub)
	c.AddCommand(sub)
	return c
}

// embedKey names the variable that holds the key of an embedding endpoint. A
// flag would show it to every process of the machine.
const embedKey = "OXBOW_EMBED_KEY"

// qualityFlags are the flags of bench quality.
type qualityFlags struct {
	data          string
	sets          []string
	groups        bool
	embed, model  string
	cache         string
	batch, maxLen int
}

func (a *app) benchQualityCommand() *cobra.Command {
	var f qualityFlags
	c := &cobra.Command{
		Use:   "quality --data DIR",
		Short: "Measure how well recall ranks",
		Long: `Quality asks questions whose answers are known, each of a fresh memory, and
measures whether what answers them is found, by the default ranking and by
--rank seed side by side. Your own memory is not touched. It reads the files of
LongMemEval, LoCoMo, QMSum and SciFact as their authors publish them, packed by
gzip or not, in DIR or in a directory in it; it says where to get what is not
there.

The scorer is first proved on SciFact, against a published figure.

any@k: questions with a right entry among the first k; all@5: with all right
ones among the first 5; nDCG@10 and MRR: how near to the top they are.

With --embed, the texts of the sets are sent to that endpoint (POST
/v1/embeddings, as OpenAI's), and the vectors it gives are measured beside the
words: alone, and fused with the default ranking by reciprocal rank. A key is
taken from $` + embedKey + `.`,
		Example: `  oxbow bench quality --data ~/sets
  oxbow bench quality --data ~/sets --set locomo --groups
  oxbow bench quality --data ~/sets --json > quality.json
  oxbow bench quality --data ~/sets --cache ~/vectors \
    --embed http://127.0.0.1:11434 --embed-model nomic-embed-text`,
		Args: args(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.benchQuality(cmd.Context(), &f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.data, "data", "", "the `DIR` that holds the sets")
	fl.StringSliceVar(&f.sets, "set", nil, "only the set `NAME`: "+strings.Join(quality.SetNames(), ", "))
	_ = c.RegisterFlagCompletionFunc("set", cobra.FixedCompletions(quality.SetNames(), cobra.ShellCompDirectiveNoFileComp))
	fl.BoolVar(&f.groups, "groups", false, "show each kind of question by itself, too")
	fl.StringVar(&f.embed, "embed", "", "measure vectors of the endpoint at `URL`, too")
	fl.StringVar(&f.model, "embed-model", "", "the `NAME` of the model there")
	fl.IntVar(&f.batch, "embed-batch", 64, "texts of one request")
	fl.IntVar(&f.maxLen, "embed-bytes", 8000, "cut longer texts off for the model")
	fl.StringVar(&f.cache, "cache", "", "keep vectors in `DIR`, and use what it holds")
	return c
}

func (a *app) benchQuality(ctx context.Context, f *qualityFlags) (err error) {
	if f.data == "" {
		return &misuse{errors.New("bench quality needs the directory that holds the sets: --data DIR"), whereSets()}
	}
	for _, s := range f.sets {
		if !slices.Contains(quality.SetNames(), s) {
			return misusef("there are "+strings.Join(quality.SetNames(), ", "), "there is no set %q", s)
		}
	}
	data, err := a.abs(f.data)
	if err != nil {
		return err
	}
	if fi, err := os.Stat(data); err != nil || !fi.IsDir() {
		return &hinted{fmt.Errorf("%s is not a directory", data), whereSets()}
	}
	o := quality.Options{Data: os.DirFS(data), Root: data, Sets: f.sets}
	e, done, err := a.embedder(f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	o.Embedder = e
	var p *progress
	title := ""
	o.Progress = func(t string, n int) {
		if t != title {
			p, title = a.progress("asking "+t), t
		}
		p.set(n, 0)
	}
	r, err := quality.Run(ctx, o)
	if p != nil {
		p.end()
	}
	if err != nil && (r == nil || len(r.Results) == 0) {
		return qualityError(err)
	}
	if len(r.Results) == 0 {
		return &hinted{fmt.Errorf("%s holds none of the sets", data), whereSets()}
	}
	if a.json {
		err = errors.Join(err, a.printJSON(r))
	} else {
		a.showQuality(r, f.groups)
	}
	if err != nil {
		return qualityError(err) // of a set that could not be read
	}
	if r.Proof.NDCG > 0 && !r.Proof.Proved && r.Proof.Whole() {
		return errors.New("the scorer is not proved: " + r.Proof.Why)
	}
	return nil
}

// whereSets says where the sets are to be had.
func whereSets() string {
	var b strings.Builder
	b.WriteString("put there one or more of")
	for _, s := range quality.Sets() {
		fmt.Fprintf(&b, "\n  %s: %s\n    from %s", s.Title, s.Expect, s.From)
	}
	return b.String()
}

// qualityError says what to do about a file that cannot be read, and about an
// endpoint that gives no vectors.
func qualityError(err error) error {
	var hints []string
	all := []error{err}
	if j, ok := err.(interface{ Unwrap() []error }); ok { // several sets are broken
		all = j.Unwrap()
	}
	for _, one := range all {
		if d := new(quality.DataError); errors.As(one, &d) {
			hints = append(hints, "get "+filepath.Base(d.File)+" again from "+d.From)
		}
	}
	if len(hints) > 0 {
		return &hinted{err, strings.Join(hints, "\n")}
	}
	var e *quality.EmbedError
	if !errors.As(err, &e) {
		return err
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &hinted{err, "put its key into " + embedKey}
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return &hinted{err, "is the URL that of an endpoint like OpenAI's /v1/embeddings, and does it have the model?"}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &hinted{err, "if the texts are too long for it, lower --embed-bytes or --embed-batch"}
	}
	return &hinted{err, "is it running? With --cache DIR, what was made so far is kept for the next run"}
}

// embedder returns the client that --embed asks for, nil when it is not there,
// and what is to be called at the end.
func (a *app) embedder(f *qualityFlags) (e *quality.Embedder, done func() error, err error) {
	none := func() error { return nil }
	if f.embed == "" {
		if f.model != "" || f.cache != "" {
			return nil, none, misusef("add --embed URL", "--embed-model and --cache are about the vectors of an endpoint")
		}
		return nil, none, nil
	}
	if f.model == "" {
		return nil, none, misusef("add --embed-model NAME", "--embed needs the name of the model")
	}
	if f.batch < 1 || f.maxLen < 1 {
		return nil, none, misusef("give numbers above 0", "--embed-batch and --embed-bytes are %d and %d", f.batch, f.maxLen)
	}
	if e, err = quality.NewEmbedder(f.embed, f.model); err != nil {
		return nil, none, &misuse{err, "for example --embed http://127.0.0.1:11434"}
	}
	if err := e.SetKey(a.env.Getenv(embedKey)); err != nil {
		return nil, none, &misuse{err, "or unset " + embedKey}
	}
	e.Batch, e.MaxBytes = f.batch, f.maxLen
	dir := f.cache
	drop := none
	if dir == "" {
		// The same sessions stand in many haystacks.
		if dir, err = os.MkdirTemp("", "oxbow-vectors-"); err != nil {
			return nil, none, fmt.Errorf("making a directory for vectors: %w", err)
		}
		drop = func() error { return os.RemoveAll(dir) }
	} else if dir, err = a.abs(dir); err != nil {
		return nil, none, err
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, none, &hinted{fmt.Errorf("making the cache %s: %w", dir, err), "choose another with --cache DIR"}
	}
	fsys, err := vfs.Dir(dir)
	if err != nil {
		return nil, none, errors.Join(err, drop())
	}
	e.Cache = &quality.Cache{FS: fsys}
	return e, func() error { return errors.Join(fsys.Close(), drop()) }, nil
}

// showQuality shows the report to a person.
func (a *app) showQuality(r *quality.Report, groups bool) {
	switch p := r.Proof; {
	case p.Proved:
		a.printf("The scorer is proved: SciFact with k1 0.9, b 0.4 gives nDCG@10 %s, as published.\n", share(p.NDCG))
	case p.NDCG > 0:
		a.printf("The scorer is not proved: SciFact with k1 0.9, b 0.4 gives nDCG@10 %s; published is %s. %s.\n", share(p.NDCG), share(p.Published), upper(p.Why))
	default:
		a.printf("The scorer is not proved: %s.\n", p.Why)
	}
	a.printf("\n%-22s %-8s %5s %6s %6s %6s %6s %7s %6s\n", "", "ranking", "n", "any@1", "any@5", "any@10", "all@5", "nDCG@10", "MRR")
	for _, res := range r.Results {
		last := ""
		for i, row := range res.Rows {
			if row.Group != "" && !groups {
				continue
			}
			name := ""
			switch {
			case i == 0:
				name = res.Title + " " + res.Unit
			case row.Group != last:
				name = "  " + row.Group
			}
			last = row.Group
			a.printf("%s %-8s %5d %6s %6s %6s %6s %7s %6s\n", pad(fit(clean(name), 22), 22), row.Ranking, row.N,
				share(row.Any1), share(row.Any5), share(row.Any10), share(row.All5), share(row.NDCG), share(row.MRR))
		}
	}
	told := map[string]bool{}
	for _, res := range r.Results {
		files := strings.Join(res.Files, ", ")
		if !told[files] {
			a.printf("\n")
			a.paragraph(fmt.Sprintf("%s, from %s. %s", res.Title, clean(filepath.FromSlash(files)), res.Protocol))
			for _, n := range res.Notes {
				a.paragraph("In the data, " + n + ".")
			}
			told[files] = true
		}
		a.paragraph(fmt.Sprintf("%s: %d in %s.", upper(res.Unit), res.Entries, count(res.Memories, "memory", "memories")))
	}
	a.printf("\n")
	a.paragraph("In all sets, names tell nothing, an entry is as old as what it holds, 10 hits are looked at, and MRR counts none behind them.")
	if e := r.Embed; e != nil {
		a.paragraph(fmt.Sprintf("Vectors: %s at %s, %d numbers; %d made in %s, %d from the cache; %s cut off at %d bytes. Fused: the first 100 of oxbow and of vectors, by the sum of 1/(60 + rank).",
			clean(e.Model), e.Endpoint, e.Length, e.Made, count(e.Requests, "request", "requests"), e.Cached, count(e.Cut, "text", "texts"), e.MaxBytes))
	}
	for _, m := range r.Missing {
		a.paragraph(fmt.Sprintf("Not there: %s. It is %s, from", m.Title, m.Expect))
		a.printf("  %s\n", m.From)
	}
}

// paragraph prints a text, wrapped.
func (a *app) paragraph(s string) {
	for _, line := range wrap(s, a.width()) {
		a.printf("%s\n", line)
	}
}

// share prints a number from 0 to 1 as tables of papers do.
func share(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.4f", x), "0") }

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
