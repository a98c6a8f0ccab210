// Package proof signs heads of a log's chain with a key of its own, so that a log
// that was cut, edited or replaced is found out by those who have no key to sign
// another. It reads and writes lines; what a log is it leaves to the caller.
//
// A key is a file of text: comments with #, one of them with the public half, and
// a line of this word and the seed of an Ed25519 key (RFC 8032) in hex:
//
//	OXBOW-SIGNING-KEY-9d61b19d…
//
// Signed heads are a file of text, to which lines are appended:
//
//	head 512 CHAIN TIME KEY SIGNATURE
//	back 400 CHAIN TIME KEY SIGNATURE
//
// head says that the log had that chain at that change; back that its owner went
// back to it, so that the lines before, of later changes, count no more. CHAIN is
// 64 hexadecimal digits, TIME RFC 3339 in UTC, KEY the public key in hex. The
// SIGNATURE, in base64 without padding, is of "oxbow signed head 1\n" and the line
// before it, without the space between them.
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

// The kinds of a head.
const (
	Grown = "head"
	Back  = "back"
)

// Head is what was signed.
type Head struct {
	Kind  string
	Seq   uint64
	Chain string // 64 hexadecimal digits
	Time  time.Time
	Key   string // public key that signed it, in hex
}

// Key signs heads.
type Key struct{ private ed25519.PrivateKey }

// Public returns the public half, in hex.
func (k Key) Public() string {
	return hex.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

const secretStart = "OXBOW-SIGNING-KEY-"

// NewKey makes a key of random bytes.
func NewKey(rand io.Reader) (Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return Key{}, fmt.Errorf("making a key: %w", err)
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// Encode returns the text of the key's file.
func (k Key) Encode() []byte {
	return fmt.Appendf(nil, "# The key with which oxbow signs the heads of this memory: for you alone.\n# public key: %s\n%s%x\n",
		k.Public(), secretStart, k.private.Seed())
}

// ParseKey reads the text of a key's file.
func ParseKey(text []byte) (Key, error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if digits, ok := strings.CutPrefix(line, secretStart); ok {
			seed, err := hex.DecodeString(digits)
			if err != nil || len(seed) != ed25519.SeedSize {
				break
			}
			return Key{ed25519.NewKeyFromSeed(seed)}, nil
		}
	}
	return Key{}, errors.New("it holds no key with which oxbow signs")
}

// fields is how many words a line has.
const fields = 6

// signed returns what is signed of a line.
func signed(line string) []byte { return []byte("oxbow signed head 1\n" + line) }

// Sign returns the line of a head, its end included.
func (k Key) Sign(h Head) []byte {
	line := fmt.Sprintf("%s %d %s %s %s", h.Kind, h.Seq, h.Chain, h.Time.UTC().Format(time.RFC3339), k.Public())
	return []byte(line + " " + base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, signed(line))) + "\n")
}

// parse reads a line, without its end, and whether its signature is by its key.
func parse(line string) (h Head, ok bool) {
	w := strings.Split(line, " ")
	if len(w) != fields {
		return Head{}, false
	}
	h = Head{Kind: w[0], Chain: w[2], Key: w[4]}
	var errs [5]error
	h.Seq, errs[0] = strconv.ParseUint(w[1], 10, 64)
	h.Time, errs[1] = time.Parse(time.RFC3339, w[3])
	chain, err := hex.DecodeString(h.Chain)
	errs[2] = err
	key, err := hex.DecodeString(h.Key)
	errs[3] = err
	sig, err := base64.RawURLEncoding.DecodeString(w[5])
	errs[4] = err
	if errors.Join(errs[:]...) != nil || len(chain) != 32 || len(key) != ed25519.PublicKeySize || (h.Kind != Grown && h.Kind != Back) {
		return Head{}, false
	}
	return h, ed25519.Verify(key, signed(strings.Join(w[:fields-1], " ")), sig)
}

// Read reads a file of signed heads: those by that public key that count, and the
// numbers of the lines that are no head signed by it. A line without an end is
// what an interrupted write left, and is passed over.
func Read(text []byte, public string) (heads []Head, bad []int) {
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return heads, bad
		}
		text = rest
		h, ok := parse(string(line))
		if !ok || h.Key != public {
			bad = append(bad, n)
			continue
		}
		if h.Kind == Back {
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

// Last returns the number of the last head in a file of them, whoever signed it, and
// where its line ends; what follows is what an interrupted write left.
func Last(text []byte) (seq uint64, end int) {
	end = bytes.LastIndexByte(text, '\n') + 1
	lines := strings.Split(string(text[:end]), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if h, ok := parse(lines[i]); ok {
			return h.Seq, end
		}
	}
	return 0, end
}
