// This file implements signed heads. A head is the hash of the log after a change. Heads that are signed with the
// home's key are stored in a file next to the store, and cannot be forged without the key.

package signing

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/log/proof"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/vfs"
)

// These are the suffixes of two files next to the store: the signing key, and the log's signed hashes (heads).
const (
	signingKeySuffix   = ".signkey"
	signedHashesSuffix = ".heads"
)

// The log's hash (head) is signed after each changesPerSignature changes.
const changesPerSignature = 256

// maxInvalidLines is the maximum number of invalid lines that are reported.
const maxInvalidLines = 20

// SignLogHashPeriodically signs the hash of the log (the head) after each changesPerSignature changes of the memory m.
// The argument storePath is the path of the memory's file. Signing happens in the background. If signing fails, the
// next attempt follows after changesPerSignature more changes. The caller must call signIfDue before it closes the
// memory. signIfDue signs the head if at least changesPerSignature changes were made since the last signature.
func SignLogHashPeriodically(m *oxbow.Memory, storePath string, now func() time.Time) (signIfDue func()) {
	var changes atomic.Int64
	var running sync.WaitGroup
	sign := func() {
		if s, err := m.Stats(context.Background()); err == nil {
			_ = signLogHashAfterChanges(storePath, now(), s.Last, s.Head, changesPerSignature)
		}
	}
	stop, err := m.Watch(func(oxbow.Event) {
		if changes.Add(1)%changesPerSignature == 0 {
			running.Go(sign)
		}
	})
	if err != nil {
		return func() {} // The store does not report changes, so the head cannot be signed periodically.
	}
	return func() {
		stop()
		running.Wait()
		if changes.Swap(0) > 0 {
			sign()
		}
	}
}

// signLogHashAfterChanges signs logHash, the hash of the store's log (head) after the change with the number seq, and
// appends the signature to the file of signed heads. It does so only if at least minChanges changes were made since the
// last signature. If minChanges is 0, it signs unless the change seq was signed last. A missing key is created.
func signLogHashAfterChanges(storePath string, now time.Time, seq uint64, logHash string, minChanges uint64) error {
	text, err := os.ReadFile(storePath + signedHashesSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return verb.WrapError("signing the head", err)
	}
	last, _ := proof.LastSeqAndEnd(text)
	isSigned := minChanges == 0 && seq == last
	if seq == 0 || isSigned {
		return nil
	}
	if seq < last+minChanges {
		return nil // Fewer than minChanges changes were made since the last signature.
	}
	k, err := createSigningKey(storePath)
	if err != nil {
		return verb.WrapError("signing the head", err)
	}
	return verb.WrapError(
		"signing the head",
		appendSignedHash(
			storePath,
			k.SignLogHead(proof.SignedLogHead{LogHeadKind: proof.KindLogHead, Seq: seq, ChainHash: logHash, Time: now}),
		),
	)
}

// SignAcceptedRollback signs that the owner accepts a rollback: the log has returned to an earlier state, for example
// from a backup. The parameter store is the path of the store file, and s.Last is the number of the last change after
// the rollback. Nothing is signed if no head (log hash) of a change after s.Last was signed before, because then the
// signatures show no rollback.
//
// The result is true if there was a rollback to sign, even if storing the signature fails with an error. It is false if
// nothing was signed for this reason, or because the file with the signed heads or the signing key is missing.
func SignAcceptedRollback(store string, now time.Time, s oxbow.Stats) (bool, error) {
	text, err := os.ReadFile(store + signedHashesSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	k, kerr := signingKey(store)
	// Nothing can be signed without the signing key. The check of the signatures reports the missing key.
	if errors.Is(kerr, fs.ErrNotExist) {
		return false, nil
	}
	err = errors.Join(err, kerr)
	if err != nil {
		return false, verb.WrapError("signing that the memory went back", err)
	}
	heads, _ := proof.ParseSignedLogHeads(text, k.PublicKey())
	for _, h := range heads {
		if h.Seq > s.Last {
			return true, verb.WrapError(
				"signing that the memory went back",
				appendSignedHash(
					store,
					k.SignLogHead(
						proof.SignedLogHead{
							LogHeadKind: proof.KindLogRollback,
							Seq:         s.Last,
							ChainHash:   s.Head,
							Time:        now,
						},
					),
				),
			)
		}
	}
	return false, nil
}

// appendSignedHash appends a line to the file of signed heads. If the last line is incomplete because of an interrupted
// write, appendSignedHash replaces it.
func appendSignedHash(storePath string, line []byte) (err error) {
	f, err := os.OpenFile(storePath+signedHashesSuffix, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := os.ReadFile(storePath + signedHashesSuffix)
	if err != nil {
		return err
	}
	if _, end := proof.LastSeqAndEnd(text); end < len(text) {
		err = f.Truncate(int64(end))
	}
	if err == nil {
		_, err = f.Write(line)
	}
	return errors.Join(err, f.Sync())
}

// signingKey returns the signing key of a store. It fails if the store lacks a signing key.
func signingKey(store string) (proof.SigningKey, error) {
	text, err := os.ReadFile(store + signingKeySuffix)
	if err != nil {
		return proof.SigningKey{}, err
	}
	return proof.ParseKey(text)
}

// createSigningKey returns the signing key of a store. It creates a missing key.
func createSigningKey(storePath string) (proof.SigningKey, error) {
	k, err := signingKey(storePath)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k, err = proof.NewKey(rand.Reader)
	if err != nil {
		return k, err
	}
	dir, err := vfs.Dir(filepath.Dir(storePath))
	if err != nil {
		return k, err
	}
	defer dir.Close()
	// If two processes create a key at the same time, both use the one that was written first.
	d, err := vfs.NewDraft(dir, filepath.Base(storePath)+signingKeySuffix, 0o600)
	if err != nil {
		return k, err
	}
	_, err = d.Write(k.EncodeKeyFile())
	if err == nil {
		err = d.CommitNew()
	}
	err = errors.Join(err, d.Discard())
	if errors.Is(err, fs.ErrExist) {
		return signingKey(storePath)
	}
	return k, err
}

// SignedHashCheck is the result of comparing the signed hashes (heads) of earlier log states with a memory's log.
type SignedHashCheck struct {
	// number of signed hashes that are equal to the hash of the log after the same change
	MatchingHashCount int `json:"signed"`
	// Number of signed hashes for changes that a compaction has dropped, so that the log cannot be compared with these
	// hashes.
	DroppedHashCount  int    `json:"dropped,omitempty"`
	LastSeq           uint64 `json:"last_change"` // number of the last change after which the log's hash was signed
	LastSignatureTime string `json:"time"`        // time of the last signature (RFC 3339)
	PublicKey         string `json:"key"`         // public key of the signatures

	heads []proof.SignedLogHead
}

// ReadSignedHashesIfAny is like ReadSignedHashes. If the file of signed log hashes (heads) is missing, it does not
// report a problem.
func ReadSignedHashesIfAny(store string) (*SignedHashCheck, []verb.Problem, error) {
	if _, err := os.Stat(store + signedHashesSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return ReadSignedHashes(store)
}

// ReadSignedHashes reads the signed hashes of a store's log, which are called heads. It also returns the problems of
// the file that contains the hashes. If neither this file nor a signing key exists, both results are nil. If only the
// file or only a key exists, or the key cannot be read, ReadSignedHashes returns a problem and no hashes. If the file
// cannot be read, it returns an error.
func ReadSignedHashes(store string) (*SignedHashCheck, []verb.Problem, error) {
	text, err := os.ReadFile(store + signedHashesSuffix)
	k, kerr := signingKey(store)
	switch none, keyless := errors.Is(err, fs.ErrNotExist), errors.Is(kerr, fs.ErrNotExist); {
	case none && keyless:
		return nil, nil, nil
	case none:
		return nil, []verb.Problem{
			signedHashesProblem("there is a key, and the file of the heads that it signed is gone: "+store+
				signedHashesSuffix, "oxbow check --sign signs what is there now"),
		}, nil
	case err != nil:
		return nil, nil, verb.WrapError("reading the signed heads", err)
	case keyless:
		return nil, []verb.Problem{signedHashesProblem("heads were signed, and the key is gone: "+store+
			signingKeySuffix, "bring the key back, or remove "+store+signedHashesSuffix+" to begin again")}, nil
	case kerr != nil:
		return nil, []verb.Problem{signedHashesProblem("the key in "+store+signingKeySuffix+" cannot be read: "+
			kerr.Error(), "bring the key back; without it what was signed proves nothing")}, nil
	}
	out := &SignedHashCheck{PublicKey: k.PublicKey()}
	var bad []int
	out.heads, bad = proof.ParseSignedLogHeads(text, out.PublicKey)
	var ps []verb.Problem
	for _, n := range bad {
		if len(ps) < maxInvalidLines {
			ps = append(
				ps,
				signedHashesProblem(
					fmt.Sprintf(
						"line %d of %s is no head that the key of this home signed: it was edited, or signed with "+
							"another key",
						n,
						store+signedHashesSuffix,
					),
					"restore a backup if you do not know why",
				),
			)
		}
	}
	return out, ps, nil
}

// CompareWithLog compares the signed hashes in c.heads with the log of a memory. The caller must have checked that the
// memory is not damaged. Each signed hash belongs to a change number, and must equal the log's hash after this change.
// The parameter lastSeq is the number of the last change in the log. CompareWithLog stops at the first problem, so it
// returns at most one problem.
//
// A compaction has removed the changes before header.BaseSeq from the log. CompareWithLog cannot compare the signed
// hashes of these changes. It only counts them in c.DroppedHashCount.
func (c *SignedHashCheck) CompareWithLog(
	ctx context.Context,
	w *verb.Workspace,
	storePath string,
	header wal.Header,
	lastSeq uint64,
) ([]verb.Problem, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return nil, err
	}
	chains := map[uint64]string{}
	for _, h := range c.heads {
		chains[h.Seq] = ""
	}
	for change, err := range m.Log(ctx) {
		if err != nil {
			return nil, fmt.Errorf("reading the log: %w", err)
		}
		if _, ok := chains[change.Seq]; ok {
			chains[change.Seq] = change.Hash
		}
	}
	if header.BaseSeq > 0 {
		chains[header.BaseSeq] = hex.EncodeToString(header.BaseChainHash[:])
	}
	for _, head := range c.heads {
		when := head.Time.Format(time.RFC3339)
		switch {
		case head.Seq < header.BaseSeq:
			c.DroppedHashCount++
			continue
		case head.Seq > lastSeq:
			return []verb.Problem{
				signedHashesProblem(
					fmt.Sprintf(
						"it ends at change %d, and the head of change %d was signed at %s: changes were cut off",
						lastSeq,
						head.Seq,
						when,
					),
					"restore a backup; if you went back on purpose, oxbow recover --accept",
				),
			}, nil
		case head.ChainHash != chains[head.Seq]:
			return []verb.Problem{
				signedHashesProblem(
					fmt.Sprintf(
						"change %d is not the one whose head was signed at %s: it, or one before it, was edited or "+
							"replaced",
						head.Seq,
						when,
					),
					"restore a backup; to go on with what is there, remove "+storePath+signedHashesSuffix,
				),
			}, nil
		}
		c.MatchingHashCount++
		c.LastSeq, c.LastSignatureTime = head.Seq, when
	}
	return nil, nil
}

// signedHashesProblem returns a problem with the file of signatures. The problem lacks an offset, because offsets are
// positions in the memory's file.
func signedHashesProblem(description, remedy string) verb.Problem {
	return verb.Problem{Offset: -1, Description: description, Mend: remedy}
}

// UnknownHashProblem returns the problem to report if no change in the log has the hash logHash, which the user noted
// earlier. The argument firstSeq is the number of the first change in the log. If a compaction dropped the change with
// this hash, and the hash was signed, the problem reports this. The receiver c may be nil. Then c contains no signed
// hashes.
func (c *SignedHashCheck) UnknownHashProblem(logHash string, firstSeq uint64) verb.Problem {
	if c != nil {
		for _, h := range c.heads {
			if h.ChainHash == logHash && h.Seq+1 < firstSeq {
				return signedHashesProblem(
					fmt.Sprintf(
						"that is the head of change %d, signed at %s, which a compaction has dropped: nothing proves "+
							"any more what became of it",
						h.Seq,
						h.Time.Format(time.RFC3339),
					),
					"note a newer head",
				)
			}
		}
	}
	return signedHashesProblem(
		"no change has that head: it was cut off, edited or replaced, or dropped by a compaction, or it is the head "+
			"of another memory",
		"restore a backup that has it",
	)
}

// SignHead signs the head of a store's log: chain, the hash of the log after the change with the number seq. It is
// called after a copy of the memory was made. If the store is not the home's own store, the error matches
// [oxbow.ErrUnsupported]. SignHead also fails if the home is not trusted, or if it must not be written to.
func SignHead(w *verb.Workspace, store string, seq uint64, chain string) error {
	p, err := w.FindPlace()
	isHomesStore := err == nil && p.HasOwnLayout() && p.Home != p.StorePath && p.StorePath == store
	if !isHomesStore {
		return verb.WrapError("signing the head", errors.Join(err, oxbow.ErrUnsupported))
	}
	if err := errors.Join(ownership.CheckHomeTrusted(w), w.Host.CheckMayWrite(store)); err != nil {
		return err
	}
	return signLogHashAfterChanges(store, w.CurrentTime(), seq, chain, 0)
}

// SignCopiedMemory signs the head of a memory that was copied. It ignores errors.
func SignCopiedMemory(ctx context.Context, w *verb.Workspace, m *oxbow.Memory) {
	if w.Place == nil || w.Host == nil {
		return
	}
	if p, err := w.FindPlace(); err == nil {
		if s, err := m.Stats(ctx); err == nil {
			_ = SignHead(w, p.StorePath, s.Last, s.Head)
		}
	}
}
