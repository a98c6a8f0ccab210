// This file implements backups: plain or encrypted copies of the memory.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/tree/backup"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
)

// BackupIn is the argument of Backup.
type BackupIn struct {
	File  string `json:"file"            flag:"-" jsonschema:"path of the new file"`
	Force bool   `json:"force,omitempty"          jsonschema:"replace an existing file; if oxbow did not write it, a copy is kept"`

	SessionArchiveOnly bool `json:"sessions,omitempty" jsonschema:"copy the archive of sessions, not the memory"`

	Recipients []string `json:"to,omitempty" value:"KEY" jsonschema:"encrypt the copy for this public KEY (age1…), or for the keys in this file, like age -R; you can name several"`
	BackupKeyFiles
}

// BackupKeyFiles names the files with the keys for an encrypted backup.
type BackupKeyFiles struct {
	Identity   string `json:"identity,omitempty"        value:"KEYFILE" jsonschema:"the file of secret keys, as age-keygen writes it, that opens the copy"`
	Passphrase string `json:"passphrase_file,omitempty" value:"FILE"    jsonschema:"a file whose only line is the passphrase of the copy"`
}

func (f BackupKeyFiles) backupKeys(recipients ...string) backup.Keys {
	return backup.Keys{Recipients: recipients, SecretKeyFile: f.Identity, Passphrase: f.Passphrase}
}

// BackupOut describes the written backup.
type BackupOut struct {
	File        string         `json:"file"`
	Entries     int            `json:"entries"`
	LastSeq     uint64         `json:"last_change"`
	Bytes       int64          `json:"bytes"`
	LastLogHash string         `json:"head"`
	Problems    []verb.Problem `json:"problems,omitempty"`

	Encrypted  bool `json:"encrypted,omitempty"`
	IsVerified bool `json:"opened,omitempty"` // The backup was decrypted and compared with the original.

	// path of the session archive, if it exists; the backup does not contain this archive
	OmittedArchivePath string `json:"archive_left,omitempty"`
	// homes of a server's tenants, which are not in the backup
	OmittedTenantHomes []string `json:"tenants_left,omitempty"`
	// Copy of the file that was replaced, if somebody else had written that file.
	KeptCopy string `json:"kept,omitempty"`

	Store string `json:"-"` // path of the store that was copied
}

// Failed reports whether the written backup has problems.
func (o BackupOut) Failed() bool { return len(o.Problems) > 0 }

// Backup copies the memory to a file and checks the copy. If in.SessionArchiveOnly is set, it copies the archive of
// sessions instead. Other processes can use the memory meanwhile. A copy of the memory does not contain the session
// archive and the tenants' homes. The result lists them as OmittedArchivePath and OmittedTenantHomes. After copying the
// memory, Backup also signs the head of its log, if possible.
func Backup(ctx context.Context, w *verb.Workspace, in BackupIn) (BackupOut, error) {
	left, err := sessionArchivePath(w)
	if err != nil {
		return BackupOut{}, err
	}
	if in.SessionArchiveOnly {
		if left == "" {
			return BackupOut{}, verb.Advise(
				fmt.Errorf("backing up: %w: no sessions are kept here", fs.ErrNotExist),
				"leave --sessions out to copy the memory",
			)
		}
		w, err = w.SessionsWorkspace(ctx)
		if err != nil {
			return BackupOut{}, err
		}
		return copyStore(ctx, w, left, in)
	}
	store, err := w.ExistingStorePath("backup")
	if err != nil {
		return BackupOut{}, err
	}
	out, err := copyStore(ctx, w, store, in)
	out.OmittedArchivePath = left
	if err == nil {
		out.OmittedTenantHomes = tenantHomes(store)
		_ = signing.SignHead(w, store, out.LastSeq, out.LastLogHash)
	}
	return out, err
}

// TenantsDir is the directory in a server's home that contains the homes of the tenants.
const TenantsDir = "tenants"

// tenantHomes returns the home directories of a server's tenants. The argument store is the path of the server's store
// file. The tenants' directories are in the directory TenantsDir next to this file. A directory is returned only if it
// contains a store file of the same name. If there is no TenantsDir, the result is nil.
func tenantHomes(store string) (homes []string) {
	entries, _ := os.ReadDir(filepath.Join(filepath.Dir(store), TenantsDir))
	for _, e := range entries {
		dir := filepath.Join(filepath.Dir(store), TenantsDir, e.Name())
		if _, err := os.Stat(filepath.Join(dir, filepath.Base(store))); err == nil {
			homes = append(homes, dir)
		}
	}
	return homes
}

// copyStore copies the workspace's memory to the file in.File. The argument store is the path of the memory's file. If
// in.Recipients or a passphrase is given, the copy is encrypted. A copy that is not encrypted is then read completely,
// and the result contains the problems that were found.
func copyStore(ctx context.Context, w *verb.Workspace, store string, in BackupIn) (BackupOut, error) {
	src, err := os.Stat(store)
	if err != nil {
		return BackupOut{}, fmt.Errorf("backing up: %w", err)
	}
	to := in.outputFile(w)
	in.File, err = in.checkBackupTarget(to, src)
	if err != nil {
		return BackupOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return BackupOut{}, err
	}
	k := in.backupKeys(in.Recipients...)
	if k.CanDecrypt() && !k.CanEncrypt() {
		return BackupOut{}, verb.Advise(
			verb.Invalidf("an identity opens a copy, and this one is not encrypted"),
			"name the public key with --to age1…; age-keygen -y KEYFILE prints it",
		)
	}
	out := BackupOut{File: in.File, Store: store}
	out.KeptCopy, err = to.WriteAtomically(ctx, func() error {
		if k.CanEncrypt() {
			return out.writeEncryptedBackup(ctx, m, in, k)
		}
		_, err := m.Backup(ctx, in.File, in.Force)
		return err
	})
	if err != nil {
		return BackupOut{}, err
	}
	if out.Encrypted {
		return out, nil
	}
	options := logstore.Options{Clock: w.CurrentTime, Rand: w.Host.Rand, ReadOnly: true}
	r, err := logstore.VerifyFile(ctx, in.File, options)
	if err != nil {
		return BackupOut{}, fmt.Errorf("reading the copy again: %w", err)
	}
	out.Entries = r.Entries
	out.LastSeq = r.Last
	out.Bytes = r.Bytes
	out.LastLogHash = r.Head
	out.Problems = verb.ProblemsOfCheck(r)
	return out, nil
}

// writeEncryptedBackup writes an encrypted copy of the memory to in.File.
func (o *BackupOut) writeEncryptedBackup(ctx context.Context, m *oxbow.Memory, in BackupIn, k backup.Keys) error {
	r, err := backup.Write(ctx, m, in.File, k, in.Force)
	if errors.Is(err, backup.ErrWrongKey) {
		return verb.Advise(
			fmt.Errorf("%w; nothing was written", err),
			"name with --to the public key of that identity: age-keygen -y KEYFILE prints it",
		)
	}
	o.Entries = r.Entries
	o.LastSeq = r.Last
	o.Bytes = r.Size
	o.LastLogHash = r.Head
	o.Problems = verb.ProblemsOfCheck(r.CheckReport)
	o.Encrypted, o.IsVerified = true, r.IsVerified
	return err
}

// outputFile returns the file to which the backup is written.
func (in BackupIn) outputFile(w *verb.Workspace) output.Output {
	name := filepath.Join(in.File, "memory-"+w.CurrentTime().Format("20060102")+".oxbow")
	return output.Output{
		Path:               in.File,
		UserPath:           in.File,
		OperationName:      "backing up",
		Force:              in.Force,
		TrustList:          w.Host.TrustList,
		AdviceForDirectory: ": oxbow backup " + text.ShellQuote(name),
	}
}

// checkBackupTarget returns the path of the file to write. It fails if the path leads to the memory itself, or to
// another memory that is in use.
func (in BackupIn) checkBackupTarget(to output.Output, store fs.FileInfo) (string, error) {
	if fi, err := os.Stat(in.File); err == nil && os.SameFile(fi, store) {
		return "", verb.Advise(verb.Invalidf("%s is the memory itself", in.File), "name another file")
	}
	file, err := to.ResolvePath()
	if err != nil {
		return "", err
	}
	// Do not replace a memory that is in use, because other processes would continue to write to the deleted file.
	_, err = os.Stat(file)
	if _, lerr := os.Stat(wal.LockName(file)); err == nil && lerr == nil {
		return "", verb.Advise(fmt.Errorf("backing up: %s is a memory in use, not a copy of one", file),
			"name another file; "+text.ShellQuote(wal.LockName(file))+" is what shows that it is in use")
	}
	return file, nil
}

// restoreToTempFile writes the store in a backup to a new temporary file in the directory of storePath, and returns the
// path of this file.
func restoreToTempFile(ctx context.Context, file string, k backup.Keys, storePath string) (string, error) {
	temp, err := backup.Restore(ctx, file, k, storePath)
	if err == nil {
		return filepath.Join(filepath.Dir(storePath), temp), nil
	}
	advice := map[error]string{
		backup.ErrEncrypted: "name the key that opens it: --identity KEYFILE, as age-keygen writes it, or " +
			"--passphrase-file FILE",
		backup.ErrWrongKey: "age-keygen -y KEYFILE prints the public key of an identity: it must be one of those " +
			"for which the backup was made; a passphrase stands in --passphrase-file FILE",
		oxbow.ErrCorrupt: "nothing was changed; fetch the file again, or take another backup",
	}
	for cause, remedy := range advice {
		if errors.Is(err, cause) {
			return "", verb.Advise(fmt.Errorf("opening the backup %s: %w", file, err), remedy)
		}
	}
	return "", fmt.Errorf("opening the backup %s: %w", file, err)
}

// checkAndRenameStore checks the store in a temporary file, whose path is the argument temp. If the store has no
// problem, checkAndRenameStore renames the file to the path in the argument store. Otherwise it returns an error.
func checkAndRenameStore(ctx context.Context, w *verb.Workspace, temp, store string) error {
	r, err := checkStoreFile(ctx, w, temp)
	if err == nil && len(r.Problems) > 0 {
		err = errors.New(r.Problems[0].What)
	}
	if err != nil {
		return verb.Advise(fmt.Errorf("making the home: the backup holds no sound memory: %w", err),
			"oxbow init, then oxbow recover FILE --replace, saves what can be read of it")
	}
	return verb.WrapError("making the home", backup.RenameRestoredFile(filepath.Base(temp), store))
}

// Report lists the copied data and the data that the copy lacks, and says how to read the copy.
func (o BackupOut) Report() (r report.Report) {
	r.AddLinef(
		"copied %s to %s: %s, change %d, %s",
		o.Store,
		o.File,
		report.OxbowText(
			text.FormatCount(o.Entries, "entry", "entries"),
		),
		o.LastSeq,
		report.OxbowText(text.FormatBytes(o.Bytes)),
	)
	r.AddLinef("head %s", o.LastLogHash)
	if o.KeptCopy != "" {
		r.AddNotef("the file was edited since oxbow wrote it; a copy is kept as %s", o.KeptCopy)
	}
	switch {
	case o.IsVerified:
		r.AddLinef("it is encrypted, and the key opens it")
	case o.Encrypted:
		r.AddLinef("it is encrypted; that a key opens it was not tried, which --identity KEYFILE does")
	default:
		r.AddNotef("to look into it: oxbow --home %s list", report.OxbowText(text.ShellQuote(o.File)))
	}
	if o.OmittedArchivePath != "" {
		r.AddNotef(
			"past sessions are not in it, but in %s: oxbow backup --sessions FILE copies them",
			o.OmittedArchivePath,
		)
	}
	if n := len(o.OmittedTenantHomes); n > 0 {
		r.AddNotef(
			"not in it: %s of this server; for each: oxbow --home %s backup FILE",
			report.OxbowText(
				text.FormatCount(n, "tenant", "tenants"),
			),
			report.OxbowText(text.ShellQuote(o.OmittedTenantHomes[0])),
		)
	}
	if len(o.Problems) > 0 {
		addProblems(&r, "the copy", o.Problems)
	}
	return r
}
