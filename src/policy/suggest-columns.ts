import type { Column, LogicalType } from '../core/schema-model.js'

/**
 * What a column looks as if it held. `secret`: what opens something, such as a password. `sensitive`: personal, and such that hardly
 * anybody's work needs it, such as a birth date. `personal`: tells who somebody is or how to reach them.
 */
export type Holding = 'secret' | 'sensitive' | 'personal'

/** The words of a name in any style: `usr_passwd`, `PasswordHash`, `strAPIKey`, `zip code`. Lower case. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/(\p{L})(\d)/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** A list as it reads best: phrases with commas between them. */
export function listed(text: string): readonly string[] {
  return text.trim().split(/,\s*/)
}

/** Words that stand together in this order. A phrase may also stand as one word: `apikey`, `birthdate`. */
const PHRASES: Readonly<Record<Holding, readonly string[]>> = {
  secret: listed(`
    password, passwd, passwort, passphrase, passcode, pwd, secret, salt, credential, api key, access key, private key, secret key,
    encryption key, signing key, license key, auth key, ssh key, token, jwt, otp, totp, mfa seed, cvv, cvc, pin, security answer,
    recovery code, backup code, auth code, verification code, activation code, session key, session data, session id, connection string, hash, pass, pw, psw, mdp, kennwort, contraseña,
    pincode, pin code, pem, cookie, bearer, oauth, dsn, reset code`),
  sensitive: listed(`
    ssn, social security, social insurance, national id, national insurance, nino, tax id, tin, tax number, taxpayer, passport,
    driver license, drivers license, driver licence, driving licence, identity card, cpf, curp, dni, bsn, pesel, birth, birth date,
    birthday, dob, geburtsdatum, iban, bank account, account number, account no, routing number, sort code, card number, card no,
    credit card, cc number, card pan, debit card, diagnosis, medical, blood type, religion, ethnicity, race, sexual orientation,
    disability, salary, wage, income, cc num, pan, bic, swift, biometric, dna, prescription, credit score, nationality, political`),
  personal: listed(`
    email, e mail, mail address, phone, telephone, telefon, mobile, cell phone, fax, address, adresse, street, strasse, postal code,
    postcode, zip, first name, last name, given name, family name, full name, middle name, surname, maiden name, forename,
    contact name, user name, username, login, nickname, ip, latitude, longitude, device id, photo, picture, avatar, portrait,
    signature, gender, mail, courriel, tel, whatsapp, display name, home addr, emergency contact, spouse, vorname, nachname, imei,
    mac address`),
}

/** Stems that are told even within a longer word: `userpassword`, `custemailaddr`. */
const WITHIN: Readonly<Record<Holding, readonly string[]>> = {
  secret: listed('password, passwd, passphrase, apikey, privatekey, secretkey, accesstoken, refreshtoken'),
  sensitive: listed('birthdate, creditcard, cardnumber, socialsecurity, passportno'),
  personal: listed('firstname, lastname, fullname, emailaddr, phonenumber, postalcode, streetaddr'),
}

/** What is said about such a thing is not the thing: when a password was changed, how many tokens there are. */
const ABOUT: ReadonlySet<string> = new Set(
  listed(`
    at, on, date, time, timestamp, expires, expiry, expiration, count, type, kind, status, state, length, policy, provider, algorithm,
    algo, version, verified, valid, enabled, required, used, limit, max, min, brand, network, scope, country, changed, updated,
    created, issued, attempts, failures`),
)
/** The birth date of somebody is the thing, and so is a date of birth that is kept as text. */
const BIRTHS: ReadonlySet<string> = new Set(listed('birth, birth date, birthday, dob, geburtsdatum, birthdate'))
/** A hash of content says whether something changed. */
const HASHED_CONTENT: ReadonlySet<string> = new Set(
  listed(`
    content, file, row, commit, block, etag, image, document, git, tree, body, checksum, migration, transaction, tx`),
)

const TEXTUAL: ReadonlySet<LogicalType> = new Set(['text', 'bytes', 'json', 'array', 'unknown', 'uuid'])
const NUMBERS: ReadonlySet<LogicalType> = new Set(['integer', 'bigint', 'decimal', 'float'])
/** Numbers that are a secret or somebody's, where most numbers only count. */
const NUMERIC: Readonly<Record<Holding, ReadonlySet<string>>> = {
  secret: new Set(listed('pin, cvv, cvc, otp, passcode')),
  sensitive: new Set(PHRASES.sensitive),
  personal: new Set(listed('phone, telephone, mobile, fax, postal code, postcode, zip, latitude, longitude')),
}

const HOLDINGS = ['secret', 'sensitive', 'personal'] as const

/** Undefined where name and type say nothing of the kind. A column that references a row elsewhere holds no such thing itself. */
export function holdingOf(column: Column, isReference: boolean): Holding | undefined {
  const { logical } = column.type
  if (logical === 'boolean' || logical === 'enum' || isReference) return undefined
  const words = wordsOf(column.name)
  const joined = words.join('')
  return HOLDINGS.find((holding) => {
    const phrase =
      PHRASES[holding].find((each) => contains(words, each)) ?? WITHIN[holding].find((stem) => joined.includes(stem))
    return phrase !== undefined && fits(holding, phrase, logical, words)
  })
}

function contains(words: readonly string[], phrase: string): boolean {
  const wanted = phrase.split(' ')
  if (wanted.length > 1 && words.includes(wanted.join(''))) return true
  return words.some((_, start) => wanted.every((word, offset) => isWord(words[start + offset], word)))
}

/** `tokens` is as much a token as `token`; `pin` with an s is something else. */
function isWord(word: string | undefined, wanted: string): boolean {
  return word === wanted || (wanted.length > 3 && word === `${wanted}s`)
}

function fits(holding: Holding, phrase: string, logical: LogicalType, words: readonly string[]): boolean {
  if (logical === 'date' || logical === 'timestamp') return BIRTHS.has(phrase)
  const isAbout = words.some((word) => ABOUT.has(word) || ABOUT.has(word.replace(/s$/, '')))
  if (NUMBERS.has(logical)) return NUMERIC[holding].has(phrase) && !isAbout
  if (!TEXTUAL.has(logical)) return false
  if (phrase === 'hash' && words.some((word) => HASHED_CONTENT.has(word))) return false
  return BIRTHS.has(phrase) || !isAbout
}
