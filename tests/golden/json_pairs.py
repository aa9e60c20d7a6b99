#!/usr/bin/env python3
"""Random pairs of documents: json_compare() finds the differences that Python finds, and
json_hash() tells whether there are any.

    json_pairs.py PROGRAM [SEED]

Python reads both texts by itself, numbers as decimals, and walks them.  Speaks TAP.
"""
import decimal
import json
import random
import subprocess
import sys

N = 20000
NAMES = ['a', 'b', 'id', 'price', 'a.b', '', 'caf\u00e9', '"', '_millrace', 'x y', '\U0001f600']
decimal.getcontext().prec = 200


def number(digits, power):
    """Texts of one number."""
    if digits == 0:
        return ['0', '-0', '0.00', '0e7']
    value = decimal.Decimal(digits).scaleb(power)
    return [f'{value:f}', f'{digits}e{power}', f'{digits}0E{power - 1}', f'{digits}.0e+{power}' if power >= 0 else f'{value:f}']


def value(r, depth):
    """A random value, as a tree of (kind, what)."""
    kind = r.choice('nstonsol' if depth else 'nstn')
    if kind == 'n':
        return ('n', (r.randint(-10 ** r.randint(1, 30), 10 ** r.randint(1, 30)), r.randint(-12, 12)))
    if kind == 's':
        return ('s', ''.join(r.choice('ab\\"/\u00e9\t\u4e2d\U0001f600') for _ in range(r.randint(0, 6))))
    if kind == 't':
        return ('t', r.choice(['true', 'false', 'null']))
    if kind == 'o':
        return ('o', {name: value(r, depth - 1) for name in r.sample(NAMES, r.randint(0, 5))})
    return ('l', [value(r, depth - 1) for _ in range(r.randint(0, 4))])


def changed(r, v, rate):
    """The same value with some parts replaced, dropped or added."""
    kind, what = v
    if r.random() < rate:
        return value(r, 2) if kind != 'n' else ('n', r.choice([(what[0] + 1, what[1]), (what[0], what[1] + 1), (-what[0], what[1])]))
    if kind == 'o':
        what = {name: changed(r, part, rate) for name, part in what.items() if r.random() >= rate}
        if r.random() < rate:
            what[r.choice(NAMES)] = value(r, 1)
    elif kind == 'l':
        what = [changed(r, part, rate) for part in what if r.random() >= rate / 2]
    return (kind, what)


def text(r, v):
    """One of the texts of a value."""
    kind, what = v

    def space():
        return r.choice(['', '', '', ' ', '  '])

    if kind == 'n':
        return r.choice(number(*what))
    if kind == 's':
        return json.dumps(what, ensure_ascii=r.random() < 0.5)
    if kind == 't':
        return what
    if kind == 'l':
        return '[' + space() + ','.join(text(r, part) + space() for part in what) + ']'
    members = [json.dumps(name, ensure_ascii=r.random() < 0.5) + space() + ':' + text(r, part) for name, part in what.items()]
    if members and r.random() < 0.1:
        members.insert(0, json.dumps(r.choice(list(what))) + ':"an earlier one of this name"')
        rest = members[1:]
    else:
        rest = members
        members = []
    r.shuffle(rest)
    return '{' + space() + ','.join(members[:1] + rest) + space() + '}'


def step(path, name):
    plain = name and not any(c in '.[]"\\ ' or c < ' ' for c in name)
    return (path + '.' if path else '') + name if plain else path + '[' + json.dumps(name, ensure_ascii=False) + ']'


class Pointed(decimal.Decimal):
    """A number with a point or an exponent."""


def numbers_equal(wanted, found, as_doubles):
    return wanted == found or (as_doubles and isinstance(wanted, Pointed) and isinstance(found, Pointed)
                               and float(wanted) == float(found))


def compare(wanted, found, path, out, as_doubles):
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in sorted({*wanted, *found} - ({'_millrace'} if not path else set()), key=lambda n: n.encode()):
            below = step(path, name)
            if name not in found:
                out.append(['missing', below])
            elif name not in wanted:
                out.append(['extra', below])
            else:
                compare(wanted[name], found[name], below, out, as_doubles)
    elif isinstance(wanted, list) and isinstance(found, list):
        for i in range(max(len(wanted), len(found))):
            below = f'{path}[{i}]'
            if i >= len(found):
                out.append(['missing', below])
            elif i >= len(wanted):
                out.append(['extra', below])
            else:
                compare(wanted[i], found[i], below, out, as_doubles)
    elif isinstance(wanted, bool) or isinstance(found, bool):
        if wanted is not found:
            out.append(['different', path])
    elif isinstance(wanted, decimal.Decimal) and isinstance(found, decimal.Decimal):
        if not numbers_equal(wanted, found, as_doubles):
            out.append(['different', path])
    elif type(wanted) is not type(found) or wanted != found:
        out.append(['different', path])


def wished(line, as_doubles):
    out = []
    compare(*(json.loads(one, parse_float=Pointed, parse_int=decimal.Decimal) for one in line.split('\t')), '', out, as_doubles)
    return out


def check_hashes(number, program, lines, wishes):
    answer = subprocess.run([program, 'hashes'], input='\n'.join(lines) + '\n', capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in answer.stdout.splitlines()]
    wrong = [i for i, wish in enumerate(wishes) if answer.returncode or found[i] != (not wish)]
    print(f'{"not " if wrong else ""}ok {number} - two documents have one hash exactly if they are equal')
    for i in wrong[:5]:
        print(f'# {lines[i]}\n#   wished {wishes[i]} {answer.stderr}')
    return not wrong


def check(number, program, lines, what, *words):
    """Returns what was wished, or None if the program found something else."""
    wishes = [wished(line, bool(words)) for line in lines]
    answer = subprocess.run([program, *words], input='\n'.join(lines) + '\n', capture_output=True, text=True, check=False)
    if answer.returncode:
        print(f'not ok {number} - the program reads every pair\n# {answer.stderr}')
        return None
    found = answer.stdout.splitlines()
    wrong = [i for i, line in enumerate(found) if json.loads(line) != wishes[i]]
    different = sum(map(bool, wishes))
    ok = not wrong and N // 5 < different < N
    print(f'{"" if ok else "not "}ok {number} - {what}: {N} pairs, {different} of them different')
    for i in wrong[:5]:
        print(f'# {lines[i]}\n#   wished {wishes[i]}\n#   got    {found[i]}')
    return wishes if ok else None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    r = random.Random(seed)
    lines = []
    for _ in range(N):
        wanted = ('o', {name: value(r, 3) for name in r.sample(NAMES, 4)})
        found = changed(r, wanted, r.choice([0, 0.02, 0.1, 0.3]))
        lines.append(text(r, wanted) + '\t' + text(r, found))
    print(f'1..4\n# seed {seed}')
    exact = check(1, sys.argv[1], lines, 'numbers as decimals')
    as_doubles = check(2, sys.argv[1], lines, 'numbers with a point as doubles', 'doubles')
    tells = exact is not None and as_doubles is not None and exact != as_doubles
    print(f'{"" if tells else "not "}ok 3 - some are the same double and not the same decimal')
    ok = check_hashes(4, sys.argv[1], lines, [wished(line, False) for line in lines])
    return not (tells and ok)


if __name__ == '__main__':
    sys.exit(main())
