/** Uploads that tell how far they are, which fetch does not. */
import { refusalOf } from './api.ts'
import { ApiError } from './api-error.ts'
import { connectionLost } from './session.ts'
import { common } from './texts.ts'

/** Sends a file as the field `file`, with texts before it; throws ApiError for what is no success. `onShare` gets how much has gone, from 0 to 1. */
export function uploadFile<T>(
  url: string,
  file: File,
  texts: Record<string, string>,
  onShare: (share: number) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    request.upload.onprogress = ({ loaded, total }) => onShare(total > 0 ? loaded / total : 0)
    request.upload.onload = () => onShare(1)
    request.onerror = () => {
      connectionLost()
      reject(new ApiError(0, common().maybeDone))
    }
    request.onload = () => {
      const json = async () => JSON.parse(request.responseText)
      const { status } = request
      if (status === 200) return resolve(json())
      const headers = new Headers()
      for (const name of ['retry-after', 'x-error-code', 'x-error-values']) {
        headers.set(name, request.getResponseHeader(name) ?? '')
      }
      void refusalOf({ status, headers, json }).then(reject)
    }
    const body = new FormData()
    for (const [name, text] of Object.entries(texts)) body.append(name, text)
    body.append('file', file)
    request.send(body)
  })
}
