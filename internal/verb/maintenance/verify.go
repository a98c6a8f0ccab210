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
	NotedChangeHash string `json:"head,omitempty" jsonschema:"The hash of a change noted earlier."`
}

// VerifyOut is the result of VerifyHistory.
type VerifyOut struct {
	CheckOut
	NotedHashResult *NotedLogHash `json:"noted,omitempty"`
}

// Failed reports whether the history was edited, or the noted hash was not found.
func (o VerifyOut) Failed() bool {
	return !o.OK || (o.NotedHashResult != nil && !o.NotedHashResult.Found)
}

// VerifyHistory checks whether the history was edited. The field OK of the result is false if the check found a
// problem, and the field Problems lists the problems. A change's hash covers the history up to this change. If
// in.NotedChangeHash is a hash that the user noted earlier, and the check found no problem, VerifyHistory also searches
// for the change with this hash. The field NotedHashResult then contains the result of this search. VerifyHistory
// returns an error if the hash is not valid or the store cannot be examined.
func VerifyHistory(ctx context.Context, w *verb.Workspace, in VerifyIn) (VerifyOut, error) {
	if err := checkHead("--head", in.NotedChangeHash); err != nil {
		return VerifyOut{}, err
	}
	var out VerifyOut
	var err error
	out.CheckOut, err = examineStore(ctx, w)
	if err != nil {
		return out, err
	}
	if in.NotedChangeHash != "" && out.OK {
		out.NotedHashResult, err = findHead(ctx, w, out.Store, in.NotedChangeHash)
	}
	return out, err
}

// checkHead returns an error if head is neither "" nor a hash of 64 hexadecimal digits. The error contains the name of
// the flag with which the user passed it.
func checkHead(flag, head string) error {
	_, err := hex.DecodeString(head)
	isHash := err == nil && len(head) == 64
	if head != "" && !isHash {
		return verb.Advise(
			verb.Invalidf("%s %q is not a hash of 64 hexadecimal digits", flag, head),
			"oxbow check and oxbow log --verify print it",
		)
	}
	return nil
}

// checkAgainstSignedHeads checks the store and compares it with the signed heads and with notedHash, a hash that the
// user noted ("" without one). If sign is set and the store is sound, it signs the head of the store.
func checkAgainstSignedHeads(ctx context.Context, w *verb.Workspace, notedHash string, sign bool) (CheckOut, error) {
	p, err := w.FindPlace()
	if err != nil {
		return CheckOut{}, err
	}
	var heads *signing.SignedHashCheck
	var wrong []verb.Problem
	// Read the signed hashes before the store is checked. Otherwise another process may sign a change that the check
	// has not read.
	if p.HasOwnLayout() && p.Home != p.StorePath {
		signedHeads := signing.ReadSignedHashes
		if sign {
			signedHeads = signing.ReadSignedHashesIfAny
		}
		heads, wrong, err = signedHeads(p.StorePath)
		if err != nil {
			return CheckOut{}, err
		}
	}
	out, err := examineStore(ctx, w)
	if err != nil {
		return out, err
	}
	if !out.OK || out.IsStoreFileMissing {
		return out, nil
	}
	if err := out.compareWithSignedHeads(ctx, w, heads, notedHash); err != nil {
		return out, err
	}
	out.Problems = append(wrong, out.Problems...)
	out.OK = len(out.Problems) == 0
	if !out.OK || !sign {
		return out, nil
	}
	if err := signing.SignHead(w, p.StorePath, out.LastSeq, out.LastLogHash); err != nil {
		return out, err
	}
	heads, _, err = signing.ReadSignedHashes(p.StorePath)
	if err != nil {
		return out, err
	}
	return out, out.compareWithSignedHeads(ctx, w, heads, "")
}

// compareWithSignedHeads compares a sound log with hashes of earlier states: the signed hashes (signedHeads), and the
// hash that the user noted (notedHash). It adds a problem for each difference. signedHeads may be nil, and notedHash
// may be "".
func (o *CheckOut) compareWithSignedHeads(
	ctx context.Context,
	w *verb.Workspace,
	signedHeads *signing.SignedHashCheck,
	notedHash string,
) error {
	o.SignedHeads = signedHeads
	if signedHeads != nil {
		wrong, err := compareHeads(ctx, w, signedHeads, *o)
		if err != nil {
			return err
		}
		o.Problems = append(o.Problems, wrong...)
	}
	if notedHash == "" {
		return nil
	}
	var err error
	o.SinceNotedHash, err = findHead(ctx, w, o.Store, notedHash)
	if err == nil && !o.SinceNotedHash.Found {
		o.Problems = append(o.Problems, signedHeads.UnknownHashProblem(notedHash, o.FirstSeq))
	}
	return err
}

// compareHeads compares the signed hashes of the log's earlier states, which are in heads, with the log in the store
// out.Store. The log must be undamaged. compareHeads returns the differences as problems.
func compareHeads(
	ctx context.Context,
	w *verb.Workspace,
	heads *signing.SignedHashCheck,
	out CheckOut,
) ([]verb.Problem, error) {
	h, err := readHeader(out.Store)
	if err != nil {
		return nil, err
	}
	return heads.CompareWithLog(ctx, w, out.Store, h, out.LastSeq)
}

// findHead searches for the change after which the hash of the log was equal to the argument head. If the log contains
// such a change, the result contains its number and time. Otherwise the field Found of the result is false.
func findHead(ctx context.Context, w *verb.Workspace, store, head string) (*NotedLogHash, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return nil, err
	}
	out := &NotedLogHash{LogHash: head}
	for c, err := range m.Log(ctx) {
		if err != nil {
			return out, fmt.Errorf("reading the log: %w", err)
		}
		if c.Hash == head {
			out.Found = true
			out.Seq = c.Seq
			out.Time = verb.FormatTimestamp(c.Time)
			return out, nil
		}
	}
	// The noted hash may be the hash with which the log begins, before its first change.
	h, err := readHeader(store)
	if err == nil && hex.EncodeToString(h.BaseChainHash[:]) == head {
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
	n := o.NotedHashResult
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
			report.TimeValue(n.Time),
		)
	}
	return r
}
