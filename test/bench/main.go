// This file defines the commands and their shared parts.

// Bench measures how well recall ranks, how long a recall, a durable write and a start take, and which acknowledged
// writes survive. Each figure is shown next to the cost of the bare physical operation, or next to a competitor's
// figure. Both figures are measured in turns in the same run, so that their ratio also holds on other machines.
//
//	go run . quality             # on a tiny set that is built in
//	go run . quality --data DIR  # on LongMemEval, LoCoMo, QMSum, SciFact
//	go run . inject              # what a prompt gets, on a set that is made
//	go run . inject --data DIR   # on LongMemEval, BEAM, LoCoMo
//	go run . golden --data DIR --out FILE
//	go run . recall --n 10000
//	go run . peers --data DIR    # beside bleve, bluge, SQLite's FTS5, a scan
//	go run . bare --before DIR --prototype DIR  # the index alone, beside others
//	go run . write --n 100,100000
//	go run . close --n 1000,100000,1000000
//	go run . start
//	go run . http --n 100000     # over HTTP, beside slow clients
//	go run . conditions --n 100000,1000000
//	go run . requests --n 100000 # the server's processor time; --programs OLD,NEW compares
//	go run . catchup --n 100000 # the first recall after another process wrote many entries
//	go run . tenants --n 100000  # many tenants of one server; --kills N kills it
//	go run . whole --imported --bytes 400 --only remember  # beside 100,000 imported notes
//	go run . memory --n 100000,200000
//	go run . labels --data DIR   # on LoCoMo, QMSum and source files
//	go run . profiles --data DIR # on LoCoMo and LongMemEval
//	go run . tokens --data DIR   # on those, QMSum and source files
//	go run . secrets             # which samples of gitleaks are found; --find DIR lists hits
//	go run . shapes              # which sections of documentation look like instructions
//	go run . sessions --mb 2000 --big 500 --kills 5
//	go run . imports --n 100000  # the records of other programs
//	go run . survive
//	go run . drift --repo DIR    # over the history of a git repository
//
// With --record NAME, the tables are also written to results.jsonl. There they replace the tables
// of an earlier run with the same NAME. "go run . page" then builds the tables of
// docs/benchmarks.md.
//
// Tables are Markdown on standard output; progress goes to standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// benchCommand is one measurement.
type benchCommand struct {
	name           string
	description    string
	newMeasurement func(b *bench, fs *flag.FlagSet) func(ctx context.Context) error
}

func allCommands() []benchCommand {
	return []benchCommand{
		{"quality", "how well recall ranks, on public data sets", qualityCommand},
		{
			"words",
			"how common words are in the chats of LongMemEval, for internal/search/analysis/common.txt",
			wordsCommand,
		},
		{"golden", "the hits and scores of all questions of the data sets, to compare", goldenCommand},
		{"recall", "what a recall costs, and an entry in memory", recallCommand},
		{"turns", "what a recall of turns of talks costs", turnsCommand},
		{"peers", "oxbow beside other engines, in turns", peersCommand},
		{"bare", "what a search of the index costs, beside an earlier one and a prototype", bareCommand},
		{"beside", "what recalls and durable writes of one memory cost each other", besideCommand},
		{"write", "what a durable write costs", writeCommand},
		{"churn", "what many updates of few entries leave, and how long the longest waits", churnCommand},
		{"close", "what it costs to close a memory", closeCommand},
		{"share", "what processes get that write to one memory at once", shareCommand},
		{"start", "what a start of the program costs, and its size", startCommand},
		{"http", "what a recall over HTTP costs beside many and slow clients", httpCommand},
		{"conditions", "what queries with conditions cost, beside a plain one", conditionsCommand},
		{"requests", "what one request costs the server, in processor time", requestsCommand},
		{"catchup", "what the first recall costs after another process wrote many entries", catchupCommand},
		{"tenants", "what calls of many tenants cost one server, and what survives kill -9", tenantsCommand},
		{"whole", "what whole commands cost in a full home", wholeCommand},
		{"memory", "what a process keeps in memory of a store", memoryCommand},
		{"labels", "how often a proposed label is right, on public data sets", labelsCommand},
		{"profiles", "how much of what a model gets is about something else, on public data sets", profilesCommand},
		{"tokens", "how far the estimate of tokens is from a tokenizer's count", tokensCommand},
		{"survive", "which acknowledged writes survive", surviveCommand},
		{"drift", "whether annotations stay with their lines", driftCommand},
		{"secrets", "which secrets are found, and what is taken for one", secretsCommand},
		{"shapes", "which sections of documentation are taken for instructions", shapesCommand},
		{"hooks", "what the hooks of a session cost its client", hooksCommand},
		{"inject", "what a prompt gets of a memory, on public data sets", injectCommand},
		{"sessions", "what importing the transcripts of clients costs", sessionsCommand},
		{"imports", "what importing the files of other programs costs", importsCommand},
		{"page", "the tables of docs/benchmarks.md, from results.jsonl", pageCommand},
	}
}

// bench is the environment of a measurement.
type bench struct {
	out      io.Writer      // receives the printed results
	log      io.Writer      // receives the progress
	dir      string         // directory for the stores ("" means a temporary directory)
	recorder *tableRecorder // collects the printed tables, to store them as JSON (nil if they are not stored)
}

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(b.out, format, args...) }
func (b *bench) logf(format string, args ...any)   { fmt.Fprintf(b.log, format+"\n", args...) }

// emitTable prints a table, and records it if requested.
func (b *bench) emitTable(t *markdownTable) {
	t.print(b.out)
	if b.recorder != nil {
		b.recorder.addTable(t)
	}
}

// errMisuse is returned for an invalid command line. The reason was already printed.
var errMisuse = errors.New("command line not understood")

// runCommand runs the benchmark whose name is args[0]. The remaining elements of args are its flags.
func runCommand(ctx context.Context, args []string, out, log io.Writer) error {
	usage := func() {
		fmt.Fprintln(log, "usage: go run . COMMAND [flags]")
		for _, c := range allCommands() {
			fmt.Fprintf(log, "  %-8s %s\n", c.name, c.description)
		}
	}
	if len(args) == 0 {
		usage()
		return errMisuse
	}
	for _, c := range allCommands() {
		if c.name != args[0] {
			continue
		}
		b := &bench{out: out, log: log}
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		fs.SetOutput(log)
		record := fs.String("record", "", "put the tables into "+resultsFile+", as `NAME`")
		measure := c.newMeasurement(b, fs)
		switch err := fs.Parse(args[1:]); {
		case errors.Is(err, flag.ErrHelp):
			return nil
		case err != nil:
			return errMisuse
		case fs.NArg() > 0:
			fmt.Fprintf(log, "%s takes flags only, not %q\n", c.name, fs.Arg(0))
			return errMisuse
		}
		if *record == "" {
			return measure(ctx)
		}
		dir := b.dir
		if dir == "" {
			dir = os.TempDir()
		}
		b.recorder = &tableRecorder{
			name:    *record,
			command: commandLine(buildTags(), args),
			date:    time.Now().UTC().Format(time.DateOnly),
			machine: describeMachine(runtime.GOOS, os.ReadFile, dir),
		}
		if err := measure(ctx); err != nil {
			return err
		}
		return b.recorder.save(resultsFile)
	}
	usage()
	return errMisuse
}

// addDirFlag adds the flag for the directory of stores.
func (b *bench) addDirFlag(fs *flag.FlagSet) {
	fs.StringVar(&b.dir, "dir", "", "make stores below this `DIR` (default: the system's temporary directory)")
}

// tempDir creates a directory for one measurement, and returns a function that removes it.
func (b *bench) tempDir() (string, func(), error) {
	dir, err := os.MkdirTemp(b.dir, "oxbow-bench-")
	if err != nil {
		return "", nil, fmt.Errorf("making a directory for stores: %w", err)
	}
	return dir, func() {
		if err := os.RemoveAll(dir); err != nil {
			b.logf("removing %s: %v", dir, err)
		}
	}, nil
}

// withTempDir returns a function that prints the title and runs fn in a temporary directory.
func (b *bench) withTempDir(title string, fn func(ctx context.Context, dir string) error) func(context.Context) error {
	return func(ctx context.Context) error {
		dir, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		b.printTitle(title, dir)
		return fn(ctx, dir)
	}
}

// printTitle prints the heading of a report. The heading consists of a line that describes the machine and a line with
// the measurement's name. The argument dir is the directory in which the measurement writes files.
func (b *bench) printTitle(name, dir string) {
	b.printf("machine: %s\n\n## %s\n\n", describeMachine(runtime.GOOS, os.ReadFile, dir), name)
}

// runHelperJob runs the job that an environment variable describes, if a measurement started this
// process as a helper. It reports whether there was a job. If the job fails, the process
// exits.
func runHelperJob() bool {
	for name, process := range map[string]func(job string, w io.Writer) error{
		searchMethodJobVar: serveSearchMethodJob,
		sharedWriteJobVar:  serveSharedWriteJob,
	} {
		if job := os.Getenv(name); job != "" {
			if err := process(job, os.Stdout); err != nil {
				fmt.Fprintf(os.Stderr, "bench: %v\n", err)
				os.Exit(1)
			}
			return true
		}
	}
	return false
}

func main() {
	if runHelperJob() {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := runCommand(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, errMisuse):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}
