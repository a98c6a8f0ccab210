// This file implements the command named "start". It measures the size of oxbow's program file, and the time from the
// program's start to its first answer.

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func startCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	rounds := fl.Int("rounds", 20, "starts to time")
	n := fl.Int("n", 10000, "entries in the full home")
	var src textSource
	src.addFlags(fl)
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		if *rounds < 1 || *n < 1 {
			return errors.New("measuring starts: -rounds and -n must be above 0")
		}
		dir, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		b.printTitle("start", dir)
		b.logf("start: building")
		plain, err := buildOxbow(ctx, dir, "oxbow-unstripped")
		if err != nil {
			return err
		}
		small, err := buildOxbow(ctx, dir, "oxbow", "-trimpath", "-ldflags=-s -w")
		if err != nil {
			return err
		}
		hello, err := buildMinimalProgram(ctx, dir)
		if err != nil {
			return err
		}
		if err := b.printSizes(plain, small, hello); err != nil {
			return err
		}
		full := filepath.Join(dir, "full")
		es, from, err := src.readEntries(ctx, min(*n, 10000))
		if err != nil {
			return err
		}
		if err := fillHome(ctx, full, repeatEntries(es, *n)); err != nil {
			return err
		}
		b.logf("start: timing")
		return b.measureStarts(ctx, dir, small, hello, full, *n, *rounds, from)
	}
}

// printSizes prints a table with the file sizes of three programs: oxbow, oxbow without symbols, and a minimal program.
func (b *bench) printSizes(defaultBuildPath, strippedBuildPath, minimalProgramPath string) error {
	t := newTable("program", "MB")
	for _, p := range [][2]string{
		{"oxbow, go build", defaultBuildPath},
		{"oxbow, -trimpath -ldflags '-s -w'", strippedBuildPath},
		{"a Go program that does nothing, likewise", minimalProgramPath},
	} {
		info, err := os.Stat(p[1])
		if err != nil {
			return err
		}
		t.addRow(p[0], formatRoundedNumber(float64(info.Size())/1e6))
	}
	b.emitTable(t)
	return nil
}

// fillHome creates a home with the entries.
func fillHome(ctx context.Context, home string, es []oxbow.Add) error {
	m, err := oxbow.Open(filepath.Join(home, "memory.oxbow"), nil)
	if err != nil {
		return err
	}
	err = fillMemory(ctx, m, es)
	if err == nil { // Create a checkpoint, like a command that imports many entries.
		err = errors.Join(m.MakeIndex(ctx), m.Checkpoint(ctx))
	}
	return errors.Join(err, m.Close())
}

// measureStarts starts several programs in several ways, each once in each round, and measures the times.
func (b *bench) measureStarts(
	ctx context.Context,
	dir, oxbowPath, minimalProgramPath, fullHome string,
	entryCount, rounds int,
	textOrigin string,
) error {
	env := minimalEnv(os.Getenv, dir)
	server := program{path: oxbowPath, args: []string{"mcp"}, env: env}
	empty := filepath.Join(dir, "empty")
	type way struct {
		name  string
		base  int // index (in the slice ways) of the way whose median time is the baseline for this way
		once  func() (time.Duration, error)
		times timings
	}
	ways := []*way{
		{name: "bare Go program: start to end", base: 0, once: func() (time.Duration, error) {
			return measureRunTime(ctx, program{path: minimalProgramPath, env: env})
		}},
		{name: "oxbow version: start to end", base: 0, once: func() (time.Duration, error) {
			return measureRunTime(ctx, program{path: oxbowPath, args: []string{"version"}, env: env})
		}},
		{name: "bare Go program: start to a line answered", base: 2, once: func() (time.Duration, error) {
			return timeEcho(ctx, program{path: minimalProgramPath, args: []string{"echo"}, env: env})
		}},
	}
	serve := func(name, home string, more func(*mcpClient) error) {
		p := server.withEnv("OXBOW_HOME=" + home)
		ways = append(ways, &way{name: name, base: 2, once: func() (time.Duration, error) {
			return measureServerStartTime(ctx, p, more)
		}})
	}
	recallOne := func(c *mcpClient) error {
		return (<-c.callTool("recall", map[string]any{"query": "what does it return"})).toolError()
	}
	serve("oxbow mcp: start to initialize answered, empty home", empty, nil)
	serve(fmt.Sprintf("oxbow mcp: the same, %s entries", formatCount(entryCount)), fullHome, nil)
	serve(
		fmt.Sprintf("oxbow mcp: start to first recall answered, %s entries", formatCount(entryCount)),
		fullHome,
		recallOne,
	)

	for i := range rounds + 1 {
		for j := range ways {
			if err := ctx.Err(); err != nil {
				return err
			}
			w := ways[(i+j)%len(ways)]
			t, err := w.once()
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if i > 0 { // Skip the first round, because it fills the caches of the system.
				w.times = append(w.times, t)
			}
		}
	}
	t := newTable(fmt.Sprintf("median of %d, in turns", rounds), "p50", "p90", "p50 × bare")
	for _, w := range ways {
		t.addRow(
			w.name,
			formatDuration(w.times.p50()),
			formatDuration(w.times.quantile(.9)),
			formatRatio(w.times.p50(), ways[w.base].times.p50()),
		)
	}
	b.emitTable(t)
	b.printf("The entries of the full home are from %s.\n\n", textOrigin)
	return nil
}

// measureRunTime returns the time from the start to the end of the program.
func measureRunTime(ctx context.Context, p program) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = p.env
	from := time.Now()
	err := cmd.Run()
	return time.Since(from), err
}

// timeEcho starts the program, sends a line, and returns the time until the program has answered the line. The time
// until the program ends is not included.
func timeEcho(ctx context.Context, p program) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = p.env
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	from := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = in.Write([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"))
	if err == nil {
		_, err = bufio.NewReader(out).ReadBytes('\n')
	}
	took := time.Since(from)
	return took, errors.Join(err, in.Close(), cmd.Wait())
}

// measureServerStartTime returns the time from the server's start until it has answered the request initialize. If the
// function sendRequests is not nil, the time includes the requests that this function sends. The time does not include
// the end of the server.
func measureServerStartTime(
	ctx context.Context,
	p program,
	sendRequests func(*mcpClient) error,
) (time.Duration, error) {
	from := time.Now()
	c, err := startServer(ctx, p)
	if err != nil {
		return 0, err
	}
	err = c.initialize()
	if err == nil && sendRequests != nil {
		err = sendRequests(c)
	}
	took := time.Since(from)
	return took, errors.Join(err, c.close())
}
