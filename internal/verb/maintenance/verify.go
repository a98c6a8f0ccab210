// This file implements the verb verify, which proves that the history of a memory was not edited.

package maintenance

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
)

// VerifyIn is the argument of VerifyHistory.
type VerifyIn struct {
	EarlierHash string `json:"head,omitempty" jsonschema:"The hash of a change noted earlier."`
}

// VerifyOut is the result of VerifyHistory.
type VerifyOut struct {
	CheckDataOut
	EarlierHashResult *EarlierLogHash `json:"noted,omitempty"`
}

// Failed reports whether the check found a problem in the history, or whether no change has the hash that the user
// noted earlier and passed to the check.
func (o VerifyOut) Failed() bool {
	return !o.OK || (o.EarlierHashResult != nil && !o.EarlierHashResult.Found)
}

// VerifyHistory checks whether somebody has edited the history of the memory. If the check finds a problem, the field
// OK of the result is false, and the field Problems lists the problems.
//
// The hash of a change covers the history up to this change. The user may have noted the hash of a change earlier, and
// pass it in in.EarlierHash. If the check finds no problem, VerifyHistory then searches for the change with this hash,
// and the field EarlierHashResult contains the result of the search. VerifyHistory returns an error if in.EarlierHash
// is not a valid hash, or if the store cannot be examined.
func VerifyHistory(ctx context.Context, w *verb.Workspace, in VerifyIn) (VerifyOut, error) {
	if err := checkHashFormat("--head", in.EarlierHash); err != nil {
		return VerifyOut{}, err
	}
	var out VerifyOut
	var err error
	out.CheckDataOut, err = examineStore(ctx, w)
	if err != nil {
		return out, err
	}
	if in.EarlierHash != "" && out.OK {
		out.EarlierHashResult, err = findChangeWithHash(ctx, w, out.Store, in.EarlierHash)
	}
	return out, err
}

// checkHashFormat returns an error if logHash is neither "" nor a hash of 64 hexadecimal digits. The error contains the
// name of the flag with which the user passed it.
func checkHashFormat(flag, logHash string) error {
	_, err := hex.DecodeString(logHash)
	isHash := err == nil && len(logHash) == 64
	if logHash != "" && !isHash {
		return verb.Advise(
			verb.Invalidf("%s %q is not a hash of 64 hexadecimal digits", flag, logHash),
			"oxbow check and oxbow log --verify print it",
		)
	}
	return nil
}

// checkAgainstSignedHashes checks the store and compares it with the signed heads and with earlierHash, a hash that the
// user noted ("" without one). If shouldSign is set and the store is sound, it signs the head of the store.
func checkAgainstSignedHashes(
	ctx context.Context,
	w *verb.Workspace,
	earlierHash string,
	shouldSign bool,
) (CheckDataOut, error) {
	p, err := w.FindPlace()
	if err != nil {
		return CheckDataOut{}, err
	}
	var heads *signing.SignedHashCheck
	var wrong []verb.Problem
	// Read the signed hashes before the store is checked. Otherwise another process may sign a change that the check
	// has not read.
	if p.HasOwnLayout() && p.Home != p.StorePath {
		signedHeads := signing.ReadSignedHashes
		if shouldSign {
			signedHeads = signing.ReadSignedHashesIfAny
		}
		heads, wrong, err = signedHeads(p.StorePath)
		if err != nil {
			return CheckDataOut{}, err
		}
	}
	out, err := examineStore(ctx, w)
	if err != nil {
		return out, err
	}
	if !out.OK || out.IsStoreFileMissing {
		return out, nil
	}
	if err := out.compareWithSignedHashes(ctx, w, heads, earlierHash); err != nil {
		return out, err
	}
	out.Problems = append(wrong, out.Problems...)
	out.OK = len(out.Problems) == 0
	if !out.OK || !shouldSign {
		return out, nil
	}
	if err := signing.SignHead(w, p.StorePath, out.LastSeq, out.LastLogHash); err != nil {
		return out, err
	}
	heads, _, err = signing.ReadSignedHashes(p.StorePath)
	if err != nil {
		return out, err
	}
	return out, out.compareWithSignedHashes(ctx, w, heads, "")
}

// compareWithSignedHashes compares a sound log with hashes of earlier states: the signed hashes (signedHashes), and the
// hash that the user noted (earlierHash). It adds a problem for each difference. signedHashes may be nil, and
// earlierHash may be "".
func (o *CheckDataOut) compareWithSignedHashes(
	ctx context.Context,
	w *verb.Workspace,
	signedHashes *signing.SignedHashCheck,
	earlierHash string,
) error {
	o.SignedHeads = signedHashes
	if signedHashes != nil {
		wrong, err := compareLogWithSignedHashes(ctx, w, signedHashes, *o)
		if err != nil {
			return err
		}
		o.Problems = append(o.Problems, wrong...)
	}
	if earlierHash == "" {
		return nil
	}
	var err error
	o.EarlierHashMatch, err = findChangeWithHash(ctx, w, o.Store, earlierHash)
	if err == nil && !o.EarlierHashMatch.Found {
		o.Problems = append(o.Problems, signedHashes.UnknownHashProblem(earlierHash, o.FirstSeq))
	}
	return err
}

// compareLogWithSignedHashes compares the signed hashes of the log's earlier states, which are in signedHashes, with
// the log in the store out.Store. The log must be undamaged. compareLogWithSignedHashes returns the differences as
// problems.
func compareLogWithSignedHashes(
	ctx context.Context,
	w *verb.Workspace,
	signedHashes *signing.SignedHashCheck,
	out CheckDataOut,
) ([]verb.Problem, error) {
	h, err := readHeader(out.Store)
	if err != nil {
		return nil, err
	}
	return signedHashes.CompareWithLog(ctx, w, out.Store, h, out.LastSeq)
}

// findChangeWithHash searches for the change after which the hash of the log was equal to the argument logHash. The
// result contains the number and the time of this change. If logHash is the hash with which the log begins, the result
// contains the number before its first change, and no time. If the hash is not found, the field Found of the result is
// false.
func findChangeWithHash(ctx context.Context, w *verb.Workspace, storePath, logHash string) (*EarlierLogHash, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return nil, err
	}
	out := &EarlierLogHash{LogHash: logHash}
	for c, err := range m.Log(ctx) {
		if err != nil {
			return out, fmt.Errorf("reading the log: %w", err)
		}
		if c.Hash == logHash {
			out.Found = true
			out.Seq = c.Seq
			out.Time = verb.FormatTimestamp(c.Time)
			return out, nil
		}
	}
	// The noted hash may be the hash with which the log begins, before its first change.
	h, err := readHeader(storePath)
	if err == nil && hex.EncodeToString(h.BaseChainHash[:]) == logHash {
		out.Found, out.Seq = true, h.BaseSeq
	}
	return out, err
}

// Report says whether the recorded history of changes was altered afterwards. It shows the range of the changes and the
// last hash of the log (the head). If the person passed a hash that was noted earlier, Report also says whether the
// history up to this hash is unchanged.
func (o VerifyOut) Report() (r report.Report) {
	switch {
	case !o.OK:
		return o.problemReport()
	case o.LastSeq == 0:
		r.AddLinef("sound: no change was made yet")
	default:
		r.AddLinef("sound: changes %d to %d, head %s", o.FirstSeq, o.LastSeq, o.LastLogHash)
	}
	n := o.EarlierHashResult
	switch {
	case n == nil && o.LastSeq > 0:
		r.AddNotef("note the head elsewhere; oxbow log --verify --head HASH then proves that nothing up to here was " +
			"edited")
	case n == nil:
	case !n.Found:
		why := report.Sentencef(
			"what was noted is not the history of this memory: it was edited, or another memory or " +
				"an older copy is here",
		)
		if o.FirstSeq > 1 {
			why = report.Sentencef("%s, or the change was dropped by a compaction (the log begins at change %d)", why,
				o.FirstSeq)
		}
		r.AddLinef("no change has the hash %s", n.LogHash)
		r.Add(report.Line{Sentence: why, Indent: 2})
	case n.Time == "":
		r.AddLinef("the hash noted is that of the state before change %d: nothing up to there was edited", n.Seq+1)
	default:
		r.AddLinef(
			"the hash noted is that of change %d, %s: nothing up to there was edited",
			n.Seq,
			report.ParseTimeOrText(n.Time),
		)
	}
	return r
}
