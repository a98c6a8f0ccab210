// Package proof signs hashes over the changes of a log, so that readers notice if somebody without the signing key cut
// off, edited or replaced the log. A head is such a hash over all changes up to a certain change. The package only
// reads and writes lines of text and does not access the log.
//
// A key file is a text file with comments (#) and a line with the key. A comment names the public key. The line has
// this prefix and the seed of an Ed25519 key (RFC 8032) in hex:
//
//	OXBOW-SIGNING-KEY-9d61b19d…
//
// Signed heads are stored in a text file to which lines are appended:
//
//	head 512 CHAIN TIME KEY SIGNATURE
//	back 400 CHAIN TIME KEY SIGNATURE
//
// "head" states that the log had this chain at this change. "back" states that the owner went back to the state after
// this change. All lines above it that are about later changes are then invalid. CHAIN has 64 hexadecimal digits, TIME
// is in RFC 3339 format in UTC, and KEY is the public key in hex. SIGNATURE, in base64 without padding, signs "oxbow
// signed head 1\n" followed by the line up to, but excluding, the space before the signature.
package proof

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A head is a signed line about the log's history. KindLogHead is the kind of a line that states the history's hash at
// a change. KindLogRollback is the kind of a line that states that the owner went back to a change.
const (
	KindLogHead     = "head"
	KindLogRollback = "back"
)

// A SignedLogHead is a signed statement that the log had a certain chain at a certain change.
type SignedLogHead struct {
	LogHeadKind string
	Seq         uint64
	ChainHash   string // value of the log's hash chain after the change, as 64 hexadecimal digits
	Time        time.Time
	PublicKey   string // public key of the signer in hex
}

// A SigningKey signs heads. A head is a hash over the changes of a log.
type SigningKey struct{ private ed25519.PrivateKey }

// PublicKey returns the public key that belongs to k, in hex.
func (k SigningKey) PublicKey() string {
	return hex.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

const secretPrefix = "OXBOW-SIGNING-KEY-"

// NewKey generates a key from the random bytes of rand.
func NewKey(rand io.Reader) (SigningKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return SigningKey{}, fmt.Errorf("making a key: %w", err)
	}
	return SigningKey{ed25519.NewKeyFromSeed(seed)}, nil
}

// EncodeKeyFile returns the content of a key file that contains k.
func (k SigningKey) EncodeKeyFile() []byte {
	return fmt.Appendf(
		nil,
		"# The key with which oxbow signs the heads of this memory: for you alone.\n# public key: %s\n%s%x\n",
		k.PublicKey(), secretPrefix, k.private.Seed(),
	)
}

// ParseKey returns the signing key in the content of a key file. It fails if the content lacks a valid key.
func ParseKey(text []byte) (SigningKey, error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if digits, ok := strings.CutPrefix(line, secretPrefix); ok {
			seed, err := hex.DecodeString(digits)
			if err != nil || len(seed) != ed25519.SeedSize {
				break
			}
			return SigningKey{ed25519.NewKeyFromSeed(seed)}, nil
		}
	}
	return SigningKey{}, errors.New("it holds no key with which oxbow signs")
}

// fieldsPerLogHeadLine is the number of fields in a line of the file with signed heads. A head is a signed line about
// the log's history, for example about the log's hash after a change.
const fieldsPerLogHeadLine = 6

// messageToSign returns the message that is signed for a line. The line does not contain the signature.
func messageToSign(line string) []byte { return []byte("oxbow signed head 1\n" + line) }

// SignLogHead returns a line that describes the log's state at a change and ends with a signature, which proves the
// state. The line includes its line feed.
func (k SigningKey) SignLogHead(h SignedLogHead) []byte {
	line := fmt.Sprintf(
		"%s %d %s %s %s",
		h.LogHeadKind,
		h.Seq,
		h.ChainHash,
		h.Time.UTC().Format(time.RFC3339),
		k.PublicKey(),
	)
	signature := ed25519.Sign(k.private, messageToSign(line))
	return []byte(line + " " + base64.RawURLEncoding.EncodeToString(signature) + "\n")
}

// parseSignedLogHead parses the line of a head, without its line end. ok is false if the line is malformed, or if the
// signature does not fit the line's key.
func parseSignedLogHead(line string) (h SignedLogHead, ok bool) {
	w := strings.Split(line, " ")
	if len(w) != fieldsPerLogHeadLine {
		return SignedLogHead{}, false
	}
	h = SignedLogHead{LogHeadKind: w[0], ChainHash: w[2], PublicKey: w[4]}
	var errs [5]error
	h.Seq, errs[0] = strconv.ParseUint(w[1], 10, 64)
	h.Time, errs[1] = time.Parse(time.RFC3339, w[3])
	chain, err := hex.DecodeString(h.ChainHash)
	errs[2] = err
	key, err := hex.DecodeString(h.PublicKey)
	errs[3] = err
	sig, err := base64.RawURLEncoding.DecodeString(w[5])
	errs[4] = err
	if errors.Join(errs[:]...) != nil {
		return SignedLogHead{}, false
	}
	if len(chain) != 32 || len(key) != ed25519.PublicKeySize {
		return SignedLogHead{}, false
	}
	if h.LogHeadKind != KindLogHead && h.LogHeadKind != KindLogRollback {
		return SignedLogHead{}, false
	}
	return h, ed25519.Verify(key, messageToSign(strings.Join(w[:fieldsPerLogHeadLine-1], " ")), sig)
}

// ParseSignedLogHeads parses the text of a file that contains one signed log head on each line. A log head proves the
// state of the log after a change. The result heads contains the heads that publicKey has signed. It omits each head
// that is later than the state to which a subsequent rollback returned the log. badLines contains the numbers of all
// lines that lack a valid head by this key. The last line is ignored if it has no line end, because an interrupted
// write has left it.
func ParseSignedLogHeads(text []byte, publicKey string) (heads []SignedLogHead, badLines []int) {
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return heads, badLines
		}
		text = rest
		h, ok := parseSignedLogHead(string(line))
		if !ok || h.PublicKey != publicKey {
			badLines = append(badLines, n)
			continue
		}
		if h.LogHeadKind == KindLogRollback {
			kept := heads[:0]
			for _, earlier := range heads {
				if earlier.Seq <= h.Seq {
					kept = append(kept, earlier)
				}
			}
			heads = kept
		}
		heads = append(heads, h)
	}
}

// LastSeqAndEnd returns the change number in the last signed head of a file, whoever signed the head, or 0 if the file
// contains no signed head. It also returns the offset at which the last complete line ends. An interrupted write may
// have left bytes after this offset.
func LastSeqAndEnd(text []byte) (seq uint64, endOffset int) {
	endOffset = bytes.LastIndexByte(text, '\n') + 1
	lines := strings.Split(string(text[:endOffset]), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if h, ok := parseSignedLogHead(lines[i]); ok {
			return h.Seq, endOffset
		}
	}
	return 0, endOffset
}
