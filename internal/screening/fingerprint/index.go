// This file defines an index of a fingerprint file's content in memory.

package fingerprint

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// fingerprintOrigin describes an earlier text, one of whose fingerprints was found in a written text.
type fingerprintOrigin struct {
	blockKind BlockKind
	labels    []string
}

// originKey is equal for equal origins.
type originKey struct {
	blockKind    BlockKind
	joinedLabels string
}

func makeOriginKey(kind BlockKind, labels []string) originKey {
	var joined []byte
	for _, l := range labels {
		joined = append(binary.AppendUvarint(joined, uint64(len(l))), l...)
	}
	return originKey{kind, string(joined)}
}

// fingerprintIndex contains the fingerprints of all blocks in a file. For each pair of a fingerprint and an origin, it
// contains only the newest block's time. It is a hash table with open addressing: all pairs of a fingerprint are
// between the slot that its hash selects and the next empty slot.
type fingerprintIndex struct {
	key       string // key of the home with which the fingerprints were encrypted
	slots     []indexSlot
	usedSlots int
	buildTime time.Time // when the file was read; blocks that were too old at this time were left out

	origins       []fingerprintOrigin // by number; number 0 is unused
	originNumbers map[originKey]uint32
	labelBytes    int // approximate memory for the origins
}

// indexSlot contains a fingerprint, an origin number, and the time of the newest block that contains both. A slot with
// the origin number 0 is empty.
type indexSlot struct {
	fingerprint      textFingerprint
	originNumber     uint32
	blockUnixSeconds uint32 // since 1970
}

const indexSlotBytes = 16

// acceptedOriginNumber is the number of the origin of fingerprints for which a person vouches. retiredOriginNumber
// replaces the origin of older blocks in slots of such a fingerprint.
const (
	acceptedOriginNumber = 1
	retiredOriginNumber  = math.MaxUint32
)

func newFingerprintIndex(key *cipherKey) *fingerprintIndex {
	return &fingerprintIndex{
		key:           string(key.key),
		slots:         make([]indexSlot, 1<<10),
		origins:       make([]fingerprintOrigin, acceptedOriginNumber+1),
		originNumbers: map[originKey]uint32{},
	}
}

// addBlock adds the fingerprints of a block to the index. Blocks must be added in the order of the file, because a
// vouch hides only fingerprints of earlier blocks. A block without text fingerprints is ignored. The error is
// errDamaged if the block's labels cannot be decrypted, and errManyOrigins if the index would be slow.
func (x *fingerprintIndex) addBlock(key *cipherKey, h *blockHeader, encryptedLabels, fingerprintBytes []byte) error {
	if h.blockKind > acceptedWordsBlock || len(fingerprintBytes) == 0 {
		return nil
	}
	number := uint32(acceptedOriginNumber)
	if h.blockKind != acceptedWordsBlock {
		labels, err := key.openLabels(h, encryptedLabels)
		if err != nil {
			return err
		}
		number = x.originNumber(h.blockKind, labels)
	}
	seconds := uint32(min(max(h.time.Unix(), 0), math.MaxUint32))
	for ; len(fingerprintBytes) >= bytesPerFingerprint; fingerprintBytes = fingerprintBytes[bytesPerFingerprint:] {
		if !x.addFingerprint(decodeFingerprint(fingerprintBytes), number, seconds) {
			return errManyOrigins
		}
	}
	return nil
}

// originNumber returns the number of an origin in x.origins. If the origin is not in x.origins yet, originNumber adds
// it.
func (x *fingerprintIndex) originNumber(kind BlockKind, labels []string) uint32 {
	key := makeOriginKey(kind, labels)
	number, known := x.originNumbers[key]
	if !known {
		number = uint32(len(x.origins))
		x.origins = append(x.origins, fingerprintOrigin{kind, labels})
		x.originNumbers[key] = number
		x.labelBytes += 2*len(key.joinedLabels) + 128
	}
	return number
}

// firstSlot returns the index in x.slots at which a search for the fingerprint p begins. If other fingerprints are
// stored at this index, the search continues in the following slots.
func (x *fingerprintIndex) firstSlot(p textFingerprint) int {
	return int(mixBits(uint64(p)) & uint64(len(x.slots)-1))
}

// maxProbedSlots is how many slots addFingerprint examines at most. Without a limit, the time would grow quadratically
// with a fingerprint's origin count, for example if thousands of pages with the same footer were read.
const maxProbedSlots = 2048

// errManyOrigins means that a fingerprint has so many origins that the index would be slow.
var errManyOrigins = errors.New("a fingerprint has too many origins for an index")

// addFingerprint adds the fingerprint p of a block to the index. originNumber is the number of the text's origin. If
// originNumber is acceptedOriginNumber, a person vouches for the fingerprint, so addFingerprint retires all entries in
// the index for this fingerprint with other origins. addFingerprint returns false, and the index is then incomplete, if
// it would have to examine more than maxProbedSlots slots.
func (x *fingerprintIndex) addFingerprint(p textFingerprint, originNumber, blockUnixSeconds uint32) bool {
	i := x.firstSlot(p)
	isAdded := false
	probes := 0
	for ; x.slots[i].originNumber != 0; i = (i + 1) & (len(x.slots) - 1) {
		s := &x.slots[i]
		probes++
		if probes > maxProbedSlots {
			return false
		}
		switch {
		case s.fingerprint != p:
		case s.originNumber == originNumber:
			s.blockUnixSeconds = max(s.blockUnixSeconds, blockUnixSeconds)
			isAdded = true
		case originNumber == acceptedOriginNumber:
			s.originNumber = retiredOriginNumber
		}
	}
	if isAdded {
		return true
	}
	x.slots[i] = indexSlot{p, originNumber, blockUnixSeconds}
	x.usedSlots++
	if x.usedSlots > len(x.slots)/4*3 {
		x.grow()
	}
	return true
}

// grow rebuilds the table without retired slots. If necessary, the new table is larger, so that at most half of the
// slots are used.
func (x *fingerprintIndex) grow() {
	old := x.slots
	live := 0
	for i := range old {
		if old[i].originNumber != 0 && old[i].originNumber != retiredOriginNumber {
			live++
		}
	}
	size := len(old)
	for size/2 < live {
		size *= 2
	}
	x.slots = make([]indexSlot, size)
	x.usedSlots = live
	for _, s := range old {
		if s.originNumber == 0 || s.originNumber == retiredOriginNumber {
			continue
		}
		i := x.firstSlot(s.fingerprint)
		for x.slots[i].originNumber != 0 {
			i = (i + 1) & (size - 1)
		}
		x.slots[i] = s
	}
}

// findOrigins returns the origins of a fingerprint in blocks that are not too old at the time now (see
// [BlockKind.maxAge]). isAccepted reports whether a person has vouched for the fingerprint in such a block.
func (x *fingerprintIndex) findOrigins(
	p textFingerprint,
	now time.Time,
) (origins []*fingerprintOrigin, isAccepted bool) {
	oldest := now.Add(-maxBlockAge)
	oldestAccepted := now.Add(-maxAcceptedBlockAge)
	for i := x.firstSlot(p); x.slots[i].originNumber != 0; i = (i + 1) & (len(x.slots) - 1) {
		s := x.slots[i]
		blockTime := time.Unix(int64(s.blockUnixSeconds), 0)
		switch {
		case s.fingerprint != p, s.originNumber == retiredOriginNumber:
		case s.originNumber == acceptedOriginNumber:
			isAccepted = isAccepted || !blockTime.Before(oldestAccepted)
		case !blockTime.Before(oldest):
			origins = append(origins, &x.origins[s.originNumber])
		}
	}
	return origins, isAccepted
}
