// This file compacts a brain (a memory in the cluster). A compaction replaces all the brain's messages in the stream by
// a snapshot of the brain's file.

package jetstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
)

// These constants determine when a brain (a memory on the servers) is compacted, and how its file is stored.
const (
	// minimum number of messages with changes after the last snapshot before a new snapshot is made
	minEnvelopesAfterSnapshot = 64
	segmentFileBytes          = 4 << 20 // size, in bytes, of each part (segment) into which a large snapshot file is divided
	// Maximum size, in bytes, of a compressed file that is stored in the snapshot message itself. A larger file is
	// stored in separate messages.
	maxInlineFileBytes = 24 << 10
)

// compactBrainIfDue publishes a new snapshot of a brain (a memory) if two conditions hold: there are many envelopes
// (messages with changes) after the last snapshot, and their size is more than a quarter of the snapshot's size. Errors
// are ignored, because the next envelope causes another attempt.
func (r *brainReplica) compactBrainIfDue() {
	r.mu.Lock()
	held := int64(0)
	if r.position.LastSnapshot != nil {
		held = r.position.LastSnapshot.CompressedBytes
	}
	due := !r.isClosed && r.position.EnvelopesAfterSnapshot > r.cluster.minEnvelopesToCompact &&
		4*r.position.BytesAfterSnapshot > held
	r.mu.Unlock()
	if due {
		ctx, cancel := context.WithTimeout(r.cluster.ctx, r.cluster.options.WriteWait)
		defer cancel()
		_ = r.publishSnapshot(ctx)
	}
}

// publishSnapshot publishes a snapshot that replaces all messages of the brain. If the brain has no messages, it does
// nothing. If the local copy lacks the last message of the brain, the servers reject the snapshot, and the error
// matches errNewerMessageStored.
func (r *brainReplica) publishSnapshot(ctx context.Context) error {
	r.mu.Lock()
	at, head := r.position, r.fileChainHash
	image, err := r.files.readLog()
	r.mu.Unlock()
	if err != nil || at.EnvelopeNumber == 0 {
		return err
	}
	s := &snapshot{
		FileSize:          int64(len(image)),
		FileHash:          sha256.Sum256(image),
		LastChange:        at.LastChange,
		RecentEnvelopeIDs: at.RecentEnvelopeIDs[max(0, len(at.RecentEnvelopeIDs)-minRecentEnvelopeIDs):],
	}
	if err := r.storeFile(ctx, s, image, at.LastSnapshot); err != nil {
		return err
	}
	id, err := r.cluster.randomID()
	if err != nil {
		return err
	}
	e := &envelope{
		Version:          envelopeVersion,
		BrainName:        r.directoryEntry.Name,
		EnvelopeNumber:   at.EnvelopeNumber,
		PrevChainHash:    at.ChainHash,
		BrainEpoch:       r.directoryEntry.BrainEpoch,
		SenderNode:       r.cluster.options.Node,
		EnvelopeID:       id,
		ChangeTime:       at.EnvelopeTime,
		LastChangeBefore: at.LastChange,
		FileChainHash:    head,
		Snapshot:         s,
	}
	data, _, err := e.encodeMessage()
	if err != nil {
		return err
	}
	seq, err := r.cluster.requestSender.publishMessage(ctx, r.directoryEntry.subjectName(), data, at.LastReadSeq, true)
	if err != nil {
		return fmt.Errorf("compact %s: %w", r.directoryEntry.Name, err)
	}
	r.mu.Lock()
	if r.position.LastReadSeq == at.LastReadSeq && !r.isClosed {
		err = r.applyMessage(ctx, streamMessage{Seq: seq, Data: data})
	}
	r.mu.Unlock()
	return errors.Join(err, r.deleteOldSegments(ctx, at.LastSnapshot, s))
}

// storeFile stores the content of the brain's file (fileContent) in the snapshot s. If the compressed content is small,
// it is stored in s.InlineFile. Otherwise storeFile sends the content in segments, each in its own message, and adds
// the segments to s. If a segment is equal to the segment with the same index in lastSnapshot, it is not sent again.
func (r *brainReplica) storeFile(ctx context.Context, s *snapshot, fileContent []byte, lastSnapshot *snapshot) error {
	if packed := zstdEncoder.EncodeAll(fileContent, nil); len(packed) <= maxInlineFileBytes {
		s.InlineFile, s.CompressedBytes = packed, int64(len(packed))
		return nil
	}
	number := uint64(time.Now().UnixNano())
	for i := 0; len(fileContent) > 0; i++ {
		part := fileContent[:min(segmentFileBytes, len(fileContent))]
		fileContent = fileContent[len(part):]
		g := fileSegment{UncompressedBytes: int64(len(part)), UncompressedHash: sha256.Sum256(part)}
		hasSegment := lastSnapshot != nil && i < len(lastSnapshot.FileSegments)
		if hasSegment && lastSnapshot.FileSegments[i].UncompressedHash == g.UncompressedHash {
			s.addSegment(lastSnapshot.FileSegments[i])
			continue
		}
		packed := zstdEncoder.EncodeAll(part, nil)
		g.SegmentNumber, g.CompressedBytes = number+uint64(i), int64(len(packed))
		for {
			_, err := r.cluster.requestSender.publishMessage(ctx, r.segmentSubject(g), packed, 0, false)
			if err == nil {
				break
			}
			if errors.Is(err, errNewerMessageStored) || !sleepUnlessCanceled(ctx, noServerRetryPause) {
				return fmt.Errorf("store segment %d of %s: %w", i, r.directoryEntry.Name, err)
			}
		}
		s.addSegment(g)
	}
	return nil
}

func (s *snapshot) addSegment(segment fileSegment) {
	s.FileSegments = append(s.FileSegments, segment)
	s.CompressedBytes += segment.CompressedBytes
}

// segmentSubject returns the subject of the NATS message that contains the segment g of a snapshot's file.
func (r *brainReplica) segmentSubject(g fileSegment) string {
	return r.directoryEntry.subjectName() + ".s." + strconv.FormatUint(g.SegmentNumber, 10)
}

// deleteOldSegments deletes the messages with parts (segments) of the old snapshot's file that do not belong to the
// new snapshot s.
func (r *brainReplica) deleteOldSegments(ctx context.Context, oldSnapshot, s *snapshot) error {
	if oldSnapshot == nil {
		return nil
	}
	var errs error
	for _, g := range oldSnapshot.FileSegments {
		if slices.ContainsFunc(
			s.FileSegments,
			func(o fileSegment) bool { return o.SegmentNumber == g.SegmentNumber },
		) {
			continue
		}
		var answer struct {
			Error *apiError `json:"error"`
		}
		err := r.cluster.requestSender.requestAPI(ctx, "$JS.API.STREAM.PURGE."+
			r.directoryEntry.streamName(), map[string]string{"filter": r.segmentSubject(g)}, &answer)
		if err == nil && answer.Error != nil {
			err = answer.Error
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

// applySnapshot processes a snapshot of the brain that was read from the stream. If the local copy lacks a change that
// the snapshot contains, the local file is replaced by the snapshot's file. Otherwise the file stays. The caller must
// have locked mu.
func (r *brainReplica) applySnapshot(ctx context.Context, e *envelope, seq uint64, size int) error {
	s := e.Snapshot
	switch {
	case e.EnvelopeNumber < r.position.EnvelopeNumber:
		return r.damageError(
			"message %d is a snapshot of envelope %d, and %d was read before",
			seq,
			e.EnvelopeNumber,
			r.position.EnvelopeNumber,
		)
	case e.EnvelopeNumber == r.position.EnvelopeNumber && e.PrevChainHash != r.position.ChainHash:
		return r.damageError(
			"the snapshot of envelope %d, message %d, does not continue the chain",
			e.EnvelopeNumber,
			seq,
		)
	case e.EnvelopeNumber > r.position.EnvelopeNumber:
		if err := r.installSnapshot(ctx, e); err != nil {
			return err
		}
		r.updateInFlightEnvelope(e)
	}
	p := replicaPosition{
		Cluster:           r.position.Cluster,
		LastReadSeq:       seq,
		EnvelopeNumber:    e.EnvelopeNumber,
		ChainHash:         e.PrevChainHash,
		EnvelopeTime:      e.ChangeTime,
		LastChange:        s.LastChange,
		RecentEnvelopeIDs: s.RecentEnvelopeIDs,
	}
	held := *s
	held.InlineFile, held.RecentEnvelopeIDs = nil, nil
	p.LastSnapshot = &held
	r.setPosition(p)
	return r.files.writePosition(r.unsyncedPosition())
}

// updateInFlightEnvelope checks whether the snapshot in e contains the changes of r.envelopeInFlight, the envelope that
// this process is publishing now. An envelope is a message with changes. The list RecentEnvelopeIDs of the snapshot
// contains the IDs of its most recent envelopes, ordered by envelope number. updateInFlightEnvelope looks up the number
// of r.envelopeInFlight in this list:
//   - If the list has the ID of r.envelopeInFlight at this number, updateInFlightEnvelope sets isApplied in
//     r.envelopeInFlight.
//   - If the number is too old for the list, it sets isOutcomeUnknown in r.envelopeInFlight.
//
// If r.envelopeInFlight is nil, or has a higher number than the last envelope of the snapshot, updateInFlightEnvelope
// does nothing.
func (r *brainReplica) updateInFlightEnvelope(e *envelope) {
	f, ids := r.envelopeInFlight, e.Snapshot.RecentEnvelopeIDs
	if f == nil || f.envelopeNumber > e.EnvelopeNumber {
		return
	}
	i := len(ids) - 1 - int(e.EnvelopeNumber-f.envelopeNumber)
	f.isOutcomeUnknown = i < 0
	f.isApplied = i >= 0 && ids[i] == f.envelopeID
}

// installSnapshot replaces the replica's file by the file of a snapshot. The caller must have locked mu.
func (r *brainReplica) installSnapshot(ctx context.Context, e *envelope) error {
	s := e.Snapshot
	image, err := r.fetchFile(ctx, s)
	if err != nil {
		return err
	}
	r.closeStore()
	if err := r.files.createDir(); err != nil {
		return err
	}
	if err := replaceFileAtomically(unsyncedFS{r.files.fsys}, r.files.logFilePath(), image); err != nil {
		return err
	}
	if err := r.openStore(); err != nil {
		return r.damageError("the file of its snapshot cannot be opened: %v", err)
	}
	r.watchers.Send(oxbow.Event{Reset: true})
	if r.lastChangeNumber != s.LastChange || r.fileChainHash != e.FileChainHash {
		return r.damageError(
			"the file of its snapshot ends with change %d, not %d, or with another chain",
			r.lastChangeNumber,
			s.LastChange,
		)
	}
	return nil
}

// fetchFile returns the content of a snapshot's file. The content is in the snapshot itself, or is downloaded in
// segments. If the content does not have the size and the hash in s, the error matches [oxbow.ErrCorrupt].
func (r *brainReplica) fetchFile(ctx context.Context, s *snapshot) ([]byte, error) {
	if s.FileSize < 0 || s.FileSize > 1<<40 {
		return nil, r.damageError("a snapshot of %d bytes", s.FileSize)
	}
	image := make([]byte, 0, min(s.FileSize, 64<<20))
	if s.FileSegments == nil {
		b, err := zstdDecoder.DecodeAll(s.InlineFile, image)
		if err != nil {
			return nil, r.damageError("its snapshot cannot be unpacked: %v", err)
		}
		image = b
	}
	for _, g := range s.FileSegments {
		part, err := r.fetchSegment(ctx, g)
		if err != nil {
			return nil, err
		}
		image = append(image, part...)
	}
	if int64(len(image)) != s.FileSize || chainHash(sha256.Sum256(image)) != s.FileHash {
		return nil, r.damageError("its snapshot is not the one that its hash names")
	}
	return image, nil
}

var errSegmentNotFound = errors.New("a segment is not there")

// fetchSegment downloads the segment g, which is a part of a snapshot file, and returns its uncompressed bytes. It
// first sends a request that any server with the stream can answer. If it does not get the segment within two seconds,
// it asks the stream's leader. A segment whose hash differs from g.UncompressedHash is not used. If no server has a
// correct segment, the error matches errSegmentNotFound.
func (r *brainReplica) fetchSegment(ctx context.Context, g fileSegment) ([]byte, error) {
	unpack := func(b []byte) ([]byte, bool) {
		part, err := zstdDecoder.DecodeAll(b, nil)
		return part, err == nil && chainHash(sha256.Sum256(part)) == g.UncompressedHash
	}
	c := r.cluster
	direct, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	m := nats.NewMsg("$JS.API.DIRECT.GET." + r.directoryEntry.streamName() + "." + r.segmentSubject(g))
	if a, err := c.requestSender.requester.RequestMsgWithContext(direct, m); err == nil &&
		a.Header.Get("Status") == "" {
		if part, ok := unpack(a.Data); ok {
			return part, nil
		}
	}
	a, ok, err := c.requestSender.lastMessage(ctx, r.directoryEntry.streamName(), r.segmentSubject(g))
	if err != nil {
		return nil, err
	}
	if ok {
		if part, ok := unpack(a.Data); ok {
			return part, nil
		}
	}
	return nil, errors.Join(
		errSegmentNotFound,
		r.damageError("segment %d is missing or is not the one that its hash names", g.SegmentNumber),
	)
}
