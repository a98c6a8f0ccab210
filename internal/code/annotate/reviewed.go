// This file decides which annotations are trusted. Annotations are stored in files called sidecars, which are committed
// with the code. Anybody can commit a sidecar, so the author named in an annotation proves nothing.

package annotate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// machineSignatureBytes is the size of an annotation's mark. The mark is a keyed hash by which a machine recognizes its
// own annotations.
const machineSignatureBytes = 12

// machineSignatureText returns the text from which an annotation's mark, a keyed hash, is computed. The text contains
// the annotated lines with the lines around them, the reasons, and the fields that identify the annotation, such as its
// ID, file and author.
func (r *Record) machineSignatureText() string {
	var b strings.Builder
	add := func(texts ...string) {
		b.WriteString(strconv.Itoa(len(texts)) + "\n")
		for _, s := range texts {
			// Write the length before each text, so that different annotations never result in the same output.
			fmt.Fprintf(&b, "%d:%s", len(s), s)
		}
	}
	add(r.ID, r.File, r.Span.String(), r.Why, string(r.Author), r.BlockHash, strconv.Itoa(r.OmittedBlockLines))
	add(r.RejectedAlternatives...)
	add(r.LinesBefore...)
	add(r.Block...)
	add(r.LinesAfter...)
	return b.String()
}

// computeMachineSignature returns the record's signature, which is an HMAC-SHA256 in hexadecimal digits. The signature
// proves that a program with this key wrote the record.
func (r *Record) computeMachineSignature(key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(r.machineSignatureText()))
	return hex.EncodeToString(h.Sum(nil)[:machineSignatureBytes])
}

// isSignedWithKey reports whether the annotation's mark was computed with this key.
func (r *Record) isSignedWithKey(key []byte) bool {
	return len(key) > 0 && hmac.Equal([]byte(r.MachineSignature), []byte(r.computeMachineSignature(key)))
}

// signRecords sets the field MachineSignature of each record. The signature is a keyed hash that shows that this
// machine wrote the record. If b.opts.CreateMachineKey is nil, signRecords does nothing. If CreateMachineKey returns no
// key, signRecords sets each signature to "".
func (b *Store) signRecords(ctx context.Context, records []Record) {
	if b.opts.CreateMachineKey == nil || len(records) == 0 {
		return
	}
	key := b.opts.CreateMachineKey(ctx)
	for i := range records {
		records[i].MachineSignature = ""
		if len(key) > 0 {
			records[i].MachineSignature = records[i].computeMachineSignature(key)
		}
	}
}

// FindUnreviewedAnnotations reports for each annotation in found whether it is unreviewed. An annotation is unreviewed
// if it was not written on this machine, and the reviewed branch does not contain it. An annotation was written on this
// machine if it is signed with the machine's key. If git fails, the reviewed branch counts as empty.
func (b *Store) FindUnreviewedAnnotations(ctx context.Context, found []FoundAnnotation) []bool {
	out := make([]bool, len(found))
	var key []byte
	if b.opts.MachineKey != nil {
		key = b.opts.MachineKey()
	}
	isAny := false
	for i := range found {
		out[i] = !found[i].isSignedWithKey(key)
		isAny = isAny || out[i]
	}
	if !isAny {
		return out
	}
	reviewed := b.textsOnReviewedBranch(ctx, sidecarsOfAnnotations(found))
	for i := range found {
		out[i] = out[i] && !reviewed[found[i].machineSignatureText()]
	}
	return out
}

// sidecarsOfAnnotations returns the names of all sidecars that may contain the annotations: for each annotation, the
// original file's sidecar and the present file's sidecar. The original file is the file for which the annotation was
// written.
func sidecarsOfAnnotations(found []FoundAnnotation) (names []string) {
	seen := map[string]bool{}
	for _, f := range found {
		for _, file := range []string{f.File, f.CurrentFile} {
			if name := sidecarPath(file); !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// textsOnReviewedBranch returns the set of the annotation texts in some annotation files (sidecars) on the reviewed
// branch. names contains the paths of these files, relative to the directory for sidecars. Each text has the form that
// machineSignatureText returns. The result is nil if there is no reviewed branch, or if it cannot be read.
func (b *Store) textsOnReviewedBranch(ctx context.Context, names []string) map[string]bool {
	if b.repo == nil || b.opts.ReviewedCommit == nil {
		return nil
	}
	commit, err := b.opts.ReviewedCommit(ctx, b.repo)
	if err != nil || commit == "" {
		return nil
	}
	places := make([]git.FileAtCommit, len(names))
	for i, name := range names {
		places[i] = git.FileAtCommit{Commit: commit, File: path.Join(b.sidecarDir, name)}
	}
	blobs, err := b.repo.BlobsAt(ctx, places)
	if err != nil {
		return nil
	}
	texts, err := b.repo.ReadBlobs(ctx, slices.DeleteFunc(blobs, func(name string) bool { return name == "" }))
	if err != nil {
		return nil
	}
	statements := map[string]bool{}
	for _, text := range texts {
		if b.maxReadSize > 0 && int64(len(text)) > b.maxReadSize {
			continue
		}
		for _, r := range parseSidecar(text).records {
			statements[r.machineSignatureText()] = true
		}
	}
	return statements
}
