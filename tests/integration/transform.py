"""What the steps of a column's `transform` make of a text, written a second time for the oracle."""
import datetime
import hashlib
import hmac
import json
from decimal import Decimal

TRUE = {'true', 't', 'yes', 'y', 'on'}
FALSE = {'false', 'f', 'no', 'n', 'off', ''}
SPACE = ' \t\n\v\f\r'


class Unfit(Exception):
    """The text is not what a step needs: the row is a dead letter."""


def encode(value):
    """JSON, numbers with all their digits."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return '{' + ','.join(f'{encode(str(k))}:{encode(v)}' for k, v in value.items()) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(encode, value)) + ']'
    return json.dumps(value, ensure_ascii=False)


def text(value):
    """A value of a document as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return str(value)
    return encode(value)


def is_number(value):
    try:
        return isinstance(json.loads(value, parse_float=Decimal, parse_int=Decimal), Decimal)
    except ValueError:
        return False


def to_date(value, form):
    value = value.strip(SPACE)
    if form.startswith('epoch'):
        unit = 1000 if form == 'epoch_millis' else 1
        try:
            moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(value) // unit)
        except ValueError as e:
            raise Unfit(value) from e
        return moment.isoformat() + (f'.{int(value) % 1000:03}' if unit == 1000 else '') + 'Z'
    try:
        moment = datetime.datetime.strptime(value, form)
    except ValueError as e:
        raise Unfit(value) from e
    if moment.tzinfo:
        return moment.astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat() + 'Z'
    return moment.isoformat() if '%H' in form else moment.date().isoformat()


def to_boolean(value):
    value = value.strip(SPACE)
    if value.lower() in TRUE | FALSE:
        return value.lower() in TRUE
    if is_number(value):
        return Decimal(value) != 0
    raise Unfit(value)


def to_number(value):
    if not is_number(value.strip(SPACE)):
        raise Unfit(value)
    return Decimal(value.strip(SPACE))


def to_json(value):
    try:
        return json.loads(value, parse_float=Decimal, parse_int=Decimal)
    except ValueError as e:
        raise Unfit(value) from e


STEPS = {
    'text': lambda value, step: value,
    'trim': lambda value, step: value.strip(SPACE),
    'date': lambda value, step: to_date(value, step['format']),
    'boolean': lambda value, step: to_boolean(value),
    'number': lambda value, step: to_number(value),
    'json': lambda value, step: to_json(value),
    'mask': lambda value, step: hmac.new(step['salt'].encode(), value.encode(), hashlib.sha256).hexdigest(),
}


def run(steps, value):
    for step in steps:
        if step['kind'] == 'split':
            values = value if isinstance(value, list) else [value]
            value = [part for v in values if v for part in v.split(step['by'])]
        elif isinstance(value, list):
            value = [STEPS[step['kind']](v, step) for v in value]
        else:
            value = STEPS[step['kind']](value, step)
    return value
