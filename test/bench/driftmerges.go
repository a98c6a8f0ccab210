// This file rewrites a repository's history so that it consists of merges. The contents stay the same, but reach the
// main branch through merge commits, as with pull requests.

package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// createMergeHistory creates a new history with merges in the clone, and checks out its last commit. It reads the first
// parents of HEAD, the oldest first. The first commit in the new history has the same content as the oldest of them.
// Each later commit is made on a side branch, and a merge commit joins the side branch with the main branch.
func (c *repoClone) createMergeHistory(ctx context.Context) error {
	out, err := runGit(ctx, c.dir, "log", "--first-parent", "--reverse", "--format=%T %ct", "HEAD")
	if err != nil {
		return err
	}
	var in bytes.Buffer
	mark := 0
	commit := func(tree, time, parents string) string {
		mark++
		fmt.Fprintf(
			&in,
			"commit refs/heads/drift\nmark :%d\ncommitter drift <drift@example.com> %s +0000\ndata 0\n%sM 040000 %s "+
				"\n\n",
			mark,
			time,
			parents,
			tree,
		)
		return fmt.Sprintf(":%d", mark)
	}
	main := ""
	for row := range strings.Lines(string(out)) {
		tree, time, _ := strings.Cut(strings.TrimSpace(row), " ")
		if main == "" {
			main = commit(tree, time, "")
			continue
		}
		side := commit(tree, time, "from "+main+"\n")
		main = commit(tree, time, "from "+main+"\nmerge "+side+"\n")
	}
	cmd := gitCommand(ctx, c.dir, "fast-import", "--quiet", "--force")
	cmd.Stdin = &in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w: %.300s", err, out)
	}
	return c.checkout(ctx, "refs/heads/drift")
}
