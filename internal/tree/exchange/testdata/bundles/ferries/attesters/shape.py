def check(receipt):
    return len(receipt["result"]) == 1
