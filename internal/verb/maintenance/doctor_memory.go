// This file checks a memory for the verb doctor: the files, the entries, and the annotations of the working tree.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/vfs"
)

// checkStaleFiles looks for files in the store's directory that an interrupted or earlier command left behind. It adds
// a finding with advice for each of them, or a finding that there are none or that the directory cannot be read. If the
// store is missing, and one of the files is a damaged or recovered store, checkStaleFiles also adds a problem.
func (d *diagnosis) checkStaleFiles() {
	const about = "leftovers"
	left, err := listStaleFiles(d.memoryPlace.StorePath)
	if err != nil {
		d.addFinding(findingLevelUncheckable, about, "", "they cannot be looked at: %v", err)
		return
	}
	if len(left) == 0 {
		d.addFinding(findingLevelOK, about, "", "none")
	}
	for _, l := range left {
		remove := "rm " + text.ShellQuote(l.path)
		what, mend := "", ""
		switch l.kind {
		case staleTempFile:
			what, mend = "a rewrite was interrupted and left %s, %s, which nothing "+
				"needs", "when no other oxbow is running: "+remove
		case leftoverIncompleteLogTail:
			what, mend = "an interrupted write left %s, %s; nothing acknowledged is in it", remove
		case leftoverDamagedStore:
			what, mend = "the store before oxbow recover --replace is %s, %s", "once you miss nothing: "+remove
		case leftoverRecoveredStore:
			what, mend = "oxbow recover left %s, %s", "look with oxbow --home "+text.ShellQuote(l.path)+
				" list; when you do not need it: "+remove
		case leftoverUnsavedEditText:
			what, mend = "oxbow edit could not save %s, %s", "take what you need from it, then "+remove
		}
		d.addFinding(findingLevelWarning, about, mend, what, l.path, text.FormatBytes(l.size))
	}
	if !d.storeExists {
		for _, l := range left {
			if l.kind == leftoverDamagedStore || l.kind == leftoverRecoveredStore {
				d.addFinding(findingLevelProblem, "store", "mv "+text.ShellQuote(l.path)+" "+
					text.ShellQuote(
						d.memoryPlace.StorePath,
					), "%s is missing, and a recovery was under way here", d.memoryPlace.StorePath)
				break
			}
		}
	}
}

// checkMemory opens the store and checks whether it works. If the argument isFullCheck is true, or if the store keeps
// no history of its changes, checkMemory also reads the whole store and reports damage. checkMemory adds its findings
// to d. It returns an error only if ctx is done or the store could not be examined.
func (d *diagnosis) checkMemory(ctx context.Context, isFullCheck bool) error {
	if !d.storeExists {
		d.addFinding(findingLevelOK, "store", "", "there is none yet; the first remember makes it")
		return nil
	}
	found := len(d.findings)
	ctx, m, err := d.workspace.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err == nil {
		err = d.checkStore(ctx, m)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.findings = d.findings[:found]
		d.addErrorFinding("integrity", err)
		return nil
	}
	if _, herr := m.History(); !isFullCheck && herr == nil {
		d.addFinding(
			findingLevelOK,
			"integrity",
			"",
			"%s; oxbow doctor --full reads every byte and compares what it answers",
			describeWhatWasRead(m),
		)
		return nil
	}
	out, err := examineStore(ctx, d.workspace)
	if err != nil {
		return err
	}
	for _, p := range out.Problems {
		d.addFinding(findingLevelProblem, "integrity", p.Mend, "%s", p.Description)
	}
	switch {
	case out.OK && out.LastLogHash != "":
		d.addFinding(findingLevelOK, "integrity", "", "sound; head %s", out.LastLogHash)
	case out.OK:
		d.addFinding(findingLevelOK, "integrity", "", "sound")
	}
	return nil
}

// describeWhatWasRead says which part of a store oxbow has read in order to open it and to check the names.
func describeWhatWasRead(m *oxbow.Memory) string {
	if s, ok := m.Store().(interface{ SnapshotSeq() uint64 }); ok && s.SnapshotSeq() > 0 {
		return fmt.Sprintf(
			"every name was read, and neither the texts nor the history up to change %d",
			s.SnapshotSeq(),
		)
	}
	return "it opens, and every change was read"
}

// checkStore examines an open memory, and adds its findings to d. It checks for lost changes at the log's end, a failed
// file sync, the date of the last change, entry names, the index file and the size. If the memory does not have oxbow's
// own layout, checkStore only reports the size.
func (d *diagnosis) checkStore(ctx context.Context, m *oxbow.Memory) error {
	s, err := m.Stats(ctx)
	if err != nil {
		return err
	}
	if !d.memoryPlace.HasOwnLayout() {
		d.addFinding(
			findingLevelOK,
			"size",
			"",
			"%s, %s",
			text.FormatBytes(s.Bytes),
			text.FormatCount(s.Entries, "entry", "entries"),
		)
		return nil
	}
	had, err := readDurableSeqFromLockFile(d.memoryPlace.StorePath, d.memoryPlace.StorePath)
	if err != nil {
		return err
	}
	if had > s.Last {
		d.addFinding(
			findingLevelProblem,
			"history",
			d.workspace.NoteText(verb.ErrorRemedy(oxbow.ErrRolledBack)),
			rollbackMessageFormat,
			s.Last,
			had,
		)
	}
	if dir, err := vfs.Dir(d.storeDir); err == nil {
		if n, ok := wal.ReadLockFileContent(dir, filepath.Base(d.memoryPlace.StorePath)); ok && n.HasFailedSync {
			d.addFinding(
				findingLevelWarning,
				"history",
				"look after the disk; the next change writes the file anew",
				"a sync of the file failed, and what was written last may not be durable",
			)
		}
		_ = dir.Close()
	}
	for c, err := range m.Log(ctx) {
		if err != nil {
			return err
		}
		if ahead := c.Time.Sub(d.workspace.CurrentTime()); ahead > maxClockSkew {
			d.addFinding(
				findingLevelWarning,
				"clock",
				"set the clock of this machine",
				"the last change is dated %s, in the future: this clock is behind, or another was ahead",
				c.Time.In(d.workspace.CurrentTime().Location()).Format(time.DateTime),
			)
		} else {
			d.addFinding(findingLevelOK, "clock", "", "the last change is of %s", d.workspace.FormatDate(c.Time))
		}
		break
	}
	content, err := d.checkNames(ctx, m, s.Last)
	if err != nil {
		return err
	}
	mend := ""
	if s.Used > largeHistoryBytes && s.Used > 4*content {
		mend = "most of it is history; oxbow compact --dry-run says what a compaction would drop"
	}
	changes := "no change yet"
	if s.Last > 0 {
		changes = text.FormatCount(int(s.Last+1-s.First), "change", "changes")
	}
	if fi, err := os.Stat(d.memoryPlace.StorePath + index.FileSuffix); err == nil {
		if name := filepath.Base(d.memoryPlace.StorePath) + index.FileSuffix; fi.Size() < minIndexBytes {
			d.addFinding(
				findingLevelOK,
				"index",
				"",
				"none yet; %s says that a recall did without, and the next makes it; it may be deleted",
				name,
			)
		} else {
			d.addFinding(
				findingLevelOK,
				"index",
				"",
				"%s in %s, so that the first recall need not make it; it may be deleted",
				text.FormatBytes(fi.Size()),
				name,
			)
		}
	}
	d.addFinding(
		findingLevelOK,
		"size",
		mend,
		"%s of %s, %s and %s",
		text.FormatBytes(s.Used),
		text.FormatBytes(s.Bytes),
		text.FormatCount(s.Entries, "entry", "entries"),
		changes,
	)
	return nil
}

// checkAnnotations checks the files with the annotations of the working tree, if there are any.
func (d *diagnosis) checkAnnotations(ctx context.Context) error {
	const about = "annotations"
	out, err := checkAnnotations(ctx, d.workspace)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.addFinding(findingLevelUncheckable, about, "", "those of the code here cannot be looked at: %v", err)
		return nil
	}
	if out == nil {
		return nil
	}
	for i, p := range out.Problems {
		if i == maxListedFindings {
			d.addFinding(findingLevelProblem, about, "oxbow check lists them", "%d more", len(out.Problems)-i)
			break
		}
		d.addFinding(findingLevelProblem, about, sidecarRepairAdvice, "%s %s", p.Position(), p.Description)
	}
	if len(out.Problems) == 0 {
		d.addFinding(
			findingLevelOK,
			about,
			"",
			"%d of the code here, in %s",
			out.AnnotationCount,
			text.FormatCount(out.FileCount, "sidecar", "sidecars"),
		)
	}
	return d.checkMergeDriver(ctx)
}

// checkMergeDriver checks whether git is configured to merge annotations with oxbow.
func (d *diagnosis) checkMergeDriver(ctx context.Context) error {
	ctx, b, err := annotations.OpenStore(ctx, d.workspace)
	if err != nil {
		return err
	}
	s, err := b.SetUpGitMerge(ctx, annotate.SetupOptions{DryRun: true})
	switch {
	case errors.Is(err, oxbow.ErrUnsupported): // The working tree is not in a git repository.
		return nil
	case err != nil:
		d.addFinding(findingLevelUncheckable, "annotations", "", "whether git can merge them: %v", err)
	case !s.Attributes.AlreadyExists && !s.LocalAttributes.AlreadyExists:
		d.addFinding(
			findingLevelWarning,
			"annotations",
			"oxbow annotate setup",
			"two branches that annotate one file will conflict in git",
		)
	}
	return nil
}
