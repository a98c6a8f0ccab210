// Histories with merges: the same contents, brought to the main branch by merge
// commits, as by pull requests.

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// maxBranch is the most commits of one branch.
const maxBranch = 4

// merge gives the clone a history in which every commit of the first-parent
// history of HEAD stands on a branch of 1 to 4 commits, which a merge commit joins
// with the main branch. Its HEAD is the last of these merges.
func (c *clone) merge(ctx context.Context, rnd *rand.Rand) error {
	out, err := gitIn(ctx, c.dir, "log", "--first-parent", "--reverse", "--format=%T %ct", "HEAD")
	if err != nil {
		return err
	}
	commits := strings.Split(strings.TrimSpace(string(out)), "\n")
	var in bytes.Buffer
	mark, main := 0, ""
	commit := func(row, parents string) string {
		tree, time, _ := strings.Cut(row, " ")
		mark++
		fmt.Fprintf(&in, "commit refs/heads/drift\nmark :%d\ncommitter drift <drift@example.com> %s +0000\ndata 0\n%sM 040000 %s \n\n", mark, time, parents, tree)
		return fmt.Sprintf(":%d", mark)
	}
	for i := 0; i < len(commits); {
		if main == "" {
			main = commit(commits[0], "")
			i++
			continue
		}
		n := min(1+rnd.IntN(maxBranch), len(commits)-i)
		side := main
		for _, row := range commits[i : i+n] {
			side = commit(row, "from "+side+"\n")
		}
		main = commit(commits[i+n-1], "from "+main+"\nmerge "+side+"\n")
		i += n
	}
	cmd := gitCommand(ctx, c.dir, "fast-import", "--quiet", "--force")
	cmd.Stdin = &in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w: %.300s", err, out)
	}
	return c.checkout(ctx, "refs/heads/drift")
}
