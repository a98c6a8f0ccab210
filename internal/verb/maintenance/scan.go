// This file implements the verb "scan", which finds passwords and keys that are already stored. (A verb is an operation
// that oxbow offers as a command or tool.)

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ScanIn is the argument of ScanSecrets.
type ScanIn struct {
	ShouldReplaceSecrets bool `json:"fix,omitempty"     usage:"replace all secrets that are found, also in the history, for good"`
	DryRun               bool `json:"dry_run,omitempty" usage:"say what --fix would replace, and change nothing"`
}

// ScanOut is the result of ScanSecrets. It does not contain the secrets themselves.
type ScanOut struct {
	DryRun              bool               `json:"dry_run,omitempty"`
	FoundSecrets        []verb.FoundSecret `json:"found"`
	ReplacedSecretCount int                `json:"fixed,omitempty"` // number of the found secrets that were replaced
	// number of versions that were erased from the history
	ErasedVersionCount int      `json:"versions,omitempty"`
	PlacesNotFixed     []string `json:"left,omitempty"` // places with secrets that the option --fix does not change
	// commands with which the user can remove the remaining secrets
	RemainingSteps []string `json:"steps,omitempty"`
	// The option --fix was given, so the secrets were replaced, or a dry run counted them.
	HasFixOption bool `json:"-"`

	progress scanProgress
}

// Failed reports whether secrets remain that were not replaced.
func (o ScanOut) Failed() bool { return o.ReplacedSecretCount < len(o.FoundSecrets) }

// ScanSecrets finds secrets in the memory, in the session archive, in the history of both, and in other files in the
// home. If in.ShouldReplaceSecrets is set and in.DryRun is not set, ScanSecrets also replaces the secrets. The
// replacement cannot be undone.
func ScanSecrets(ctx context.Context, w *verb.Workspace, in ScanIn) (ScanOut, error) {
	out := ScanOut{DryRun: in.DryRun, HasFixOption: in.ShouldReplaceSecrets, FoundSecrets: []verb.FoundSecret{}}
	fix := in.ShouldReplaceSecrets && !in.DryRun
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(!fix))
	if err != nil {
		return out, err
	}
	p, perr := w.FindPlace()
	out.progress = newScanProgress(ctx, p)
	if err := out.scanMemory(ctx, w, scannedMemory{Memory: m}, fix); err != nil {
		return out, err
	}
	if perr != nil || !p.HasOwnLayout() {
		return out, nil // A memory in another layout than oxbow's own has no archive of sessions.
	}
	return out, out.scanHome(ctx, w, p, fix)
}

// scanHome searches for secrets in the archive of sessions and in the files next to the store. If the argument
// shouldReplaceSecrets is true, it removes the found secrets. Secrets in files are not removed if the caller is an
// agent. If the argument shouldReplaceSecrets is true and o contains a found secret, scanHome also deletes the file of
// vectors, because vectors reveal parts of the texts.
func (o *ScanOut) scanHome(ctx context.Context, w *verb.Workspace, p verb.Place, shouldReplaceSecrets bool) error {
	if shouldReplaceSecrets && w.Sessions != nil {
		// Opening the archive moves the waiting reports of hooks into it. Ignore an error, because scanFiles searches
		// the reports that remain.
		_, _ = w.Sessions(ctx)
	}
	if err := o.scanArchive(ctx, w, filepath.Join(p.Dir(), session.StoreFile), shouldReplaceSecrets); err != nil {
		return err
	}
	src, _ := oxbow.SourceFrom(ctx)
	if err := o.scanFiles(w, p, shouldReplaceSecrets && src.Actor != oxbow.Agent); err != nil {
		return err
	}
	if !shouldReplaceSecrets || len(o.FoundSecrets) == 0 {
		return nil
	}
	if err := os.Remove(p.StorePath + verb.VectorSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return verb.WrapError("removing the vectors", err)
	}
	return nil
}

// scanArchive scans the archive of sessions in a file, if it exists.
func (o *ScanOut) scanArchive(ctx context.Context, w *verb.Workspace, file string, fix bool) (err error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m, err := oxbow.Open(
		file,
		&oxbow.Options{Clock: w.CurrentTime, Rand: w.Host.Rand, Source: w.Source, ReadOnly: !fix},
	)
	if err != nil {
		return verb.WrapError("opening the archive of sessions", err)
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return o.scanMemory(ctx, w, scannedMemory{Memory: m, isArchive: true}, fix)
}

// scannedMemory is a memory in which secrets are searched: the user's memory or the archive of sessions.
type scannedMemory struct {
	*oxbow.Memory
	isArchive bool // the scanned memory is the archive of sessions, and not the user's memory
}

// scanMemory finds the secrets in the entries, the old versions and the change notes of a memory. If fix is true, it
// writes each current entry again without the secrets, and erases all versions that contain secrets. A secret in a note
// can only be removed together with its change. In the archive of sessions, scanMemory removes these changes. In the
// user's memory, it only reports the command for this.
//
// An agent must not erase a person's text. If the caller is an agent and a person wrote a text with a secret,
// scanMemory erases nothing and returns an error.
func (o *ScanOut) scanMemory(ctx context.Context, w *verb.Workspace, scanned scannedMemory, fix bool) error {
	m, archive := scanned.Memory, scanned.isArchive
	before := len(o.FoundSecrets)
	l := memorySecretScan{
		out:              o,
		workspace:        w,
		isArchive:        archive,
		currentVersions:  map[string]uint64{},
		secretsInSources: map[uint64][]verb.FoundSecret{},
	}
	o.progress.beginMemory(ctx, m, archive)
	if err := l.scanEntriesForSecrets(ctx, m); err != nil {
		return verb.WrapError("scanning", err)
	}
	inEntries := len(o.FoundSecrets) - before
	until, err := o.scanChanges(ctx, m, l.secretsInSources, archive)
	if err != nil {
		return verb.WrapError("scanning the notes of changes", err)
	}
	if !fix || len(o.FoundSecrets) == before {
		return nil
	}
	if src, _ := oxbow.SourceFrom(ctx); src.Actor == oxbow.Agent && l.hasSecretByPerson {
		return verb.Advise(
			verb.Invalidf(
				"a person wrote some of the texts with secrets, which this would erase for good; nothing was erased",
			),
			"only a person erases them: oxbow scan --fix, in a terminal of their own",
		)
	}
	if err := o.eraseVersions(ctx, w, m, l.entriesWithSecrets); err != nil {
		return err
	}
	o.ReplacedSecretCount += inEntries
	if err := o.dropChangesUntil(ctx, w, m, until, len(o.FoundSecrets)-before-inEntries, archive); err != nil {
		return err
	}
	if s, err := m.Stats(ctx); err == nil && s.Bytes < maxStoreBytesToReindex {
		// Build the search index now, because the log was rewritten. Ignore an error, because the next recall builds a
		// missing index.
		_ = m.MakeIndex(ctx)
	}
	return nil
}

// eraseVersions writes the entries in entriesWithSecrets again without their secrets, and then erases all versions that
// contain secrets.
func (o *ScanOut) eraseVersions(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
	entriesWithSecrets []oxbow.Entry,
) error {
	if err := removeSecrets(ctx, &w.Secrets, m, entriesWithSecrets); err != nil {
		return verb.WrapError("replacing secrets", err)
	}
	r, err := m.RedactVersions(ctx, func(e oxbow.Entry, current bool) bool {
		return !current && verb.FindEntrySecrets(e) != nil
	}, false)
	if err != nil && !errors.Is(err, oxbow.ErrUnsupported) {
		return verb.WrapError("erasing old versions", err)
	}
	o.ErasedVersionCount += r.Versions
	// Leave out the files into which oxbow moved the unreadable end of a damaged log (STORE.lost). The function
	// scanFiles searches these files for secrets.
	r.Left = slices.DeleteFunc(r.Left, func(l string) bool { return strings.HasSuffix(l, incompleteLogTailSuffix) })
	o.PlacesNotFixed = uniqueWords(append(o.PlacesNotFixed, r.Left...))
	return nil
}

// memorySecretScan is the state while one memory is searched for secrets.
type memorySecretScan struct {
	out                *ScanOut
	workspace          *verb.Workspace
	isArchive          bool
	currentVersions    map[string]uint64 // version of each current entry, by name
	entriesWithSecrets []oxbow.Entry     // current entries that contain secrets
	// secrets in the sources of versions, by version number
	secretsInSources  map[uint64][]verb.FoundSecret
	hasSecretByPerson bool // A person wrote a version that contains a secret.
}

// scanEntriesForSecrets scans all current entries and all old versions.
func (l *memorySecretScan) scanEntriesForSecrets(ctx context.Context, m *oxbow.Memory) error {
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		l.currentVersions[e.Name] = e.Version
		l.out.progress.countItem()
		if l.scanVersion(e) {
			l.entriesWithSecrets = append(l.entriesWithSecrets, e)
		}
	}
	return eachVersionNotCurrent(
		ctx,
		m,
		l.currentVersions,
		l.out.progress.countItem,
		func(e oxbow.Entry) { l.scanVersion(e) },
	)
}

// scanVersion searches a version of an entry for secrets, and appends these to l.out.FoundSecrets. It returns true if
// it found a secret. It also records the secrets in the version's source, and whether a person wrote a version with a
// secret.
func (l *memorySecretScan) scanVersion(e oxbow.Entry) bool {
	found := verb.FindEntrySecrets(e)
	for _, f := range found {
		f.Name = l.workspace.Secrets.Cleaner.CleanText(e.Name)
		f.Version = e.Version
		f.IsInCurrentVersion = l.currentVersions[e.Name] == e.Version
		f.IsInArchive = l.isArchive
		l.out.FoundSecrets = append(l.out.FoundSecrets, f)
	}
	if found != nil && e.Source.Actor == oxbow.Person {
		l.hasSecretByPerson = true
	}
	l.secretsInSources[e.Version] = verb.FindSourceSecrets(e.Source)
	return found != nil
}

// eachVersionNotCurrent calls the function fn for each old version of an entry, which is a version that was replaced or
// whose entry was removed. The map currentVersions contains the number of the current version for each entry name. The
// old versions come from the changes in the log, and erased versions are left out. If a compaction has removed the
// oldest changes, eachVersionNotCurrent also examines the entries as they were before the first change in the log.
//
// eachVersionNotCurrent calls reportProgress for each change. It returns nil if the store has no log.
func eachVersionNotCurrent(
	ctx context.Context,
	m *oxbow.Memory,
	currentVersions map[string]uint64,
	reportProgress func(),
	fn func(oxbow.Entry),
) error {
	first := uint64(0)
	for c, err := range m.Log(ctx) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			return nil
		}
		if err != nil {
			return err
		}
		first = c.Seq
		reportProgress()
		for _, v := range c.Versions {
			v.Entry.Source = v.Source
			v.Entry.Version = c.Seq
			if !v.Erased && currentVersions[v.Entry.Name] != c.Seq {
				fn(v.Entry)
			}
		}
	}
	if first <= 1 {
		return nil
	}
	base, err := m.AsOf(ctx, first-1)
	if err != nil {
		return err
	}
	for e, berr := range base.Entries(ctx, oxbow.Filter{}) {
		if berr != nil {
			err = berr
		} else if currentVersions[e.Name] != e.Version {
			fn(e)
		}
	}
	return errors.Join(err, base.Close())
}

// removeSecrets writes the entries again without their secrets. An entry whose name contains a secret gets another
// name.
func removeSecrets(ctx context.Context, s *verb.SecretPolicy, m *oxbow.Memory, entriesWithSecrets []oxbow.Entry) error {
	by, _ := oxbow.SourceFrom(ctx)
	by.Actor = oxbow.Program
	ctx = oxbow.WithNote(oxbow.WithSource(ctx, by), "scan: secrets replaced")
	for _, old := range entriesWithSecrets {
		var found []screen.Secret
		old.Content, _ = session.TransformTurnTexts(
			old.Content,
			func(t string) string { return s.RedactText(ctx, t, &found) },
		)
		e, err := s.ScreenEntry(ctx, old, oxbow.Entry{}, &found)
		if err != nil {
			return err
		}
		e.Aliases = uniqueWords(e.Aliases)
		e.Labels = slices.Compact(oxbow.SortLabels(e.Labels))
		if e.Name == old.Name {
			err = m.Apply(
				ctx,
				oxbow.Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: old.Version},
			)
		} else {
			add := oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
				Created: e.Created}
			for n := 2; ; n++ {
				err = m.Apply(ctx, oxbow.Remove{Name: old.Name, If: old.Version}, add)
				if !errors.Is(err, oxbow.ErrExists) {
					break
				}
				add.Name = fmt.Sprintf("%s (%d)", e.Name, n)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// uniqueWords returns the words without repetitions, in the order of their first occurrence.
func uniqueWords(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
