// Command platform is a minimal program that uses a memory. The tests compile the program for WASI and run it there.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/oxbow-memory/oxbow"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "platform:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: platform remember FILE NAME CONTENT | recall FILE QUERY | check FILE")

// run executes one command on the memory in a file. Each command opens the file again, so that its output comes from
// the file.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) < 2 {
		return errUsage
	}
	m, err := oxbow.Open(args[1], nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	switch verb, rest := args[0], args[2:]; {
	case verb == "remember" && len(rest) == 2:
		e, err := m.Remember(ctx, oxbow.Entry{Name: rest[0], Content: rest[1]})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "remembered %s as change %d\n", e.Name, e.Version)
	case verb == "recall" && len(rest) == 1:
		hits, err := m.Recall(ctx, oxbow.Query{Text: rest[0]})
		if err != nil {
			return err
		}
		for _, h := range hits {
			fmt.Fprintf(out, "%s: %s\n", h.Entry.Name, h.Entry.Content)
		}
	case verb == "check" && len(rest) == 0:
		c, ok := m.Store().(oxbow.Checker)
		if !ok {
			return oxbow.ErrUnsupported
		}
		rep, err := c.Check(ctx)
		if err != nil {
			return err
		}
		for _, p := range rep.Problems {
			fmt.Fprintln(out, "problem:", p.What)
		}
		fmt.Fprintf(out, "%d entries in %d changes, %d problems\n", rep.Entries, rep.Last, len(rep.Problems))
	default:
		return errUsage
	}
	return nil
}
