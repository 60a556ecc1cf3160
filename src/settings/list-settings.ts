/** What settings of lists may be: the words of agents, the address of rule files. */
import * as v from 'valibot'
import { line } from '#src/lib/values.ts'
import { textLike } from './kinds.ts'

/** `happ`, `v2rayNG`: in any case. */
const agentWord = v.pipe(
  v.string(),
  v.trim(),
  v.regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._/-]{1,31}$/,
    'must be words of 2 to 32 letters, digits, . _ / or -',
  ),
)

/** Words of agents as requests bring them. */
export const givenAgentWords = v.pipe(
  v.array(agentWord, 'must be a list of words'),
  v.maxLength(50, 'must have at most 50 words'),
)

/** The environment's text of them. */
export const agentWordsText = textLike(
  /^[a-z0-9][a-z0-9._/-]{1,31}([\s,]+[a-z0-9][a-z0-9._/-]{1,31}){0,49}$/i,
  'a list of words of User-Agents',
)

/** The words that a text holds. */
export const agentWordsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
]

/** The address that the names of rule files are put behind; may be empty. */
export const ruleAddress = v.pipe(
  line(2048),
  v.regex(
    /^(?:https?:\/\/[^\s?#/]+(?:\/[^\s?#]*)?)?$/,
    'must be an http(s) address without ? and #',
  ),
)
